// SPDX-License-Identifier: Apache-2.0

// An invented table of patients, as a ward's database might export one: 33 columns, 8 % readmitted. No
// person is behind it. Its documentation is what an analyst would have on paper.

const number = (name, from, to, missing) => ({ name, kind: "number", from, to, missing });
const category = (name, ...levels) => ({ name, kind: "category", levels });

const known = [
  number("age", 0, 110, 60), category("sex", "female", "male"), category("admission", "emergency", "planned", "transfer"),
  category("ward", "medicine", "surgery", "cardiology", "oncology"), category("insurance", "public", "private"), category("smoker", "never", "former", "current"),
  category("mobility", "walks", "aided", "bedridden"), category("diabetes", "no", "yes"),
  ...[["length_of_stay", 0, 60], ["earlier_admissions", 0, 20], ["drugs", 0, 30], ["comorbidities", 0, 15], ["systolic", 60, 240], ["diastolic", 30, 140], ["pulse", 30, 200],
    ["temperature", 34, 42], ["respiration", 5, 60], ["saturation", 60, 100], ["creatinine", 0, 10], ["haemoglobin", 3, 20], ["sodium", 110, 170], ["potassium", 2, 8], ["lactate", 0, 20],
    ["leucocytes", 0, 50], ["platelets", 0, 1000], ["glucose", 20, 600], ["albumin", 1, 6], ["bmi", 10, 70]].map(([n, a, b]) => number(n, a, b, (a + b) / 2)),
];
const ignored = ["record", "admitted_on", "discharged_on", "comment"].map(name => ({ name, kind: "ignored" }));
const label = { name: "readmitted", kind: "label", levels: ["no", "yes"] };

// Columns beyond the 33 are measurements without a meaning.
export const documentation = (columns = 33) => [...ignored, ...known, ...Array.from({ length: columns - 33 }, (_, i) => number(`measurement_${i + 1}`, 0, 1, 0.5)), label];

export function schema(columns = 33) {
  const line = c => `  - {name: ${c.name}, role: ${c.kind === "ignored" ? "ignored}" : "private, " + (
    c.kind === "number" ? `number: {lower: ${c.from}, upper: ${c.to}, default: ${c.missing}}}` :
    c.kind === "category" ? `category: {levels: [${c.levels.map(l => `"${l}"`)}], missing: false}}` : 'label: {levels: ["no", "yes"], positive: "yes", default: "no"}}')}`;
  return ["name: patients", "unit: one stay", "relation: replace-one", 'file: {delimiter: ",", quote: "\\"", header: true, trim: false, missing: [NA]}', "columns:",
    ...documentation(columns).map(line), ""].join("\n");
}

// The same seed gives the same rows.
export function table(rows, seed) {
  let s = seed;
  const random = () => (s = (s * 48271) % 2147483647) / 2147483647;
  const bell = () => (random() + random() + random() + random() - 2) * Math.sqrt(3);
  const all = documentation(), lines = [all.map(c => c.name).join(",")];
  const weights = { age: 0.5, earlier_admissions: 0.7, comorbidities: 0.5, creatinine: 0.4, haemoglobin: -0.4, albumin: -0.3, length_of_stay: 0.3, saturation: -0.3 };
  for (let i = 0; i < rows; i++) {
    let risk = -3.45;
    const cells = all.map(c => {
      if (c.kind === "ignored") return c.name === "record" ? i : "";
      if (c.kind === "label") return random() < 1 / (1 + Math.exp(-risk)) ? "yes" : "no";
      if (c.kind === "category") {
        const at = Math.floor(c.levels.length * random());
        if (c.name === "admission" && at === 0 || c.name === "mobility" && at === 2) risk += 0.5;
        return c.levels[at];
      }
      if (random() < 0.01) return "NA";
      const z = bell(), v = (c.from + c.to) / 2 + z * (c.to - c.from) / 8;
      risk += (weights[c.name] ?? 0) * z;
      return Math.min(c.to, Math.max(c.from, v)).toFixed(1);
    });
    lines.push(cells.join(","));
  }
  return lines.join("\n") + "\n";
}
