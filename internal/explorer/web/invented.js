// SPDX-License-Identifier: Apache-2.0

// The census of invented people, which lies beside the page. Nobody in it is real, so that no budget counts it.
const trained = 15000; // the rest is held out

export const invented = {}; // files of rows, once they are here

export const isInvented = file => Boolean(file) && [invented.table, invented.heldOut].includes(file);

// fetchCensus returns its schema and what is known about it.
export async function fetchCensus() {
  const [yaml, text] = await Promise.all(["census.yaml", "people.csv"].map(async name => {
    const answer = await fetch(name);
    if (!answer.ok) throw { message: "The invented census is not beside this page." };
    return answer.text();
  }));
  const [names, ...people] = text.trimEnd().split("\n"), file = (name, rows) => new File([[names, ...rows, ""].join("\n")], name, { type: "text/csv" });
  invented.table ??= file("invented-census.csv", people.slice(0, trained));
  invented.heldOut ??= file("invented-held-out.csv", people.slice(trained));
  const positive = people.filter(p => p.endsWith(",yes")).length;
  return { yaml, rows: String(trained), positives: String(Math.round(100 * positive / people.length)) };
}
