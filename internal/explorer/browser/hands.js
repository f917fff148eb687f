// SPDX-License-Identifier: Apache-2.0

// Two ways to operate a page: by mouse, and by keyboard alone.
import path from "node:path";

const patience = { timeout: 1000 * (process.env.PATIENCE ?? 240), polling: 100 }; // conditions end waits, slowness does not

export const until = (page, what, f, ...args) => page.waitForFunction(f, patience, ...args).catch(async e => {
  throw new Error(`waited in vain until ${what}: ${e.message}\n${await page.$$eval("[role=alert]:not(:empty), [role=status]:not(:empty)", all => all.map(x => x.textContent).join("\n"))}`);
});

const ready = (page, selector) => until(page, selector + " can be used", s => {
  const e = document.querySelector(s);
  return e && !e.disabled && e.getClientRects().length > 0;
}, selector);

// What the page redraws meanwhile is another element: each look at it is one step within the page.
const look = (page, selector, f, ...args) => page.evaluate(`((s, ...args) => { const e = document.querySelector(s); return e ? (${f})(e, ...args) : undefined; })(${[selector, ...args].map(a => JSON.stringify(a))})`);

// window.pressed is whether the next click meets what it was meant for.
const heed = (_, s) => {
  window.pressed = false;
  addEventListener("click", c => { window.pressed ||= Boolean(c.target.closest(s)); }, { capture: true, once: true });
};

export class Mouse {
  constructor(page) { this.page = page; }
  // A click that meets another element, since the page was redrawn, is made again, as a person would.
  async press(selector) {
    for (let i = 0; i < 9; i++) {
      await ready(this.page, selector);
      await look(this.page, selector, heed, selector);
      const at = await look(this.page, selector, e => {
        e.scrollIntoView({ block: "center", behavior: "instant" });
        const r = e.getBoundingClientRect();
        return [r.x + r.width / 2, r.y + r.height / 2];
      });
      if (!at) continue;
      await this.page.mouse.click(...at);
      if (await this.page.evaluate(() => window.pressed)) return;
    }
    throw new Error(`${selector} cannot be clicked`);
  }
  async choose(selector, value) { await ready(this.page, selector); await this.page.select(selector, value); }
  // A page that is redrawn between the click and the first letter takes no letter: a person sees that, too.
  async type(selector, text) {
    for (let i = 0; i < 9; i++) {
      await ready(this.page, selector);
      await look(this.page, selector, e => { e.focus(); e.select(); });
      await this.page.keyboard.type(text);
      if (await look(this.page, selector, (e, t) => { const is = e === document.activeElement && e.value === t; if (is) e.blur(); return is; }, text)) return;
    }
    throw new Error(`${selector} does not take what is typed`);
  }
  async upload(selector, file) { await this.page.waitForSelector(selector); await (await this.page.$(selector)).uploadFile(path.resolve(file)); }
  async slide(selector, value) { await look(this.page, selector, (e, v) => { e.value = v; e.dispatchEvent(new Event("input", { bubbles: true })); }, value); }
}

// Every key is recorded.
export class Keyboard {
  constructor(page) { this.page = page; this.keys = []; }
  async key(name) { this.keys.push(name); await this.page.keyboard.press(name === "Space" ? " " : name); } // as both protocols name it
  async text(t) { this.keys.push(JSON.stringify(t)); await this.page.keyboard.type(t); }
  // Tab, or Shift and Tab to what comes before, as far as it takes. What cannot be reached is a finding. Tab
  // beyond the end of a page leaves it for the browser's own buttons.
  async reach(selector) {
    await ready(this.page, selector);
    for (let i = 0; i < 400; i++) {
      const way = await look(this.page, selector, e => e === document.activeElement ? "" :
        document.activeElement.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_PRECEDING ? "Shift+Tab" : "Tab");
      if (way === "") return;
      if (way === "Tab") { await this.key("Tab"); continue; }
      this.keys.push("Shift+");
      await this.page.keyboard.down("Shift");
      await this.key("Tab");
      await this.page.keyboard.up("Shift");
    }
    throw new Error(`${selector} cannot be reached by Tab`);
  }
  async press(selector) {
    if (/^#tab-/.test(selector)) { // tabs are one stop; arrows choose
      await this.reach("[role=tab][aria-selected=true]");
      for (let i = 0; i < 9; i++) {
        if (await look(this.page, selector, e => e.getAttribute("aria-selected") === "true")) return;
        await this.key("ArrowRight");
      }
      throw new Error(`${selector} cannot be reached by arrows`);
    }
    // A busy browser may lose the key: a person who sees that nothing happens presses it again.
    for (let i = 0; i < 9; i++) {
      await this.reach(selector);
      await look(this.page, selector, heed, selector);
      await this.key("Space");
      if (await this.page.waitForFunction(() => window.pressed, { timeout: 5000 }).catch(() => false)) return;
    }
    throw new Error(`${selector} does not heed Space`);
  }
  async choose(selector, value) {
    await this.reach(selector);
    await this.text(await look(this.page, selector, (e, v) => [...e.options].find(o => o.value === v).text, value));
  }
  async type(selector, text) {
    await this.reach(selector);
    await this.page.keyboard.down("Control");
    await this.key("a");
    await this.page.keyboard.up("Control");
    await this.text(text);
    await this.key("Tab");
  }
  async upload(selector, file) {
    await this.reach(selector);
    let chooser;
    for (let i = 0; !chooser && i < 6; i++) { // a busy browser may ignore the key: a person presses it again
      const [opened] = await Promise.allSettled([this.page.waitForFileChooser({ timeout: 30000 }), this.key("Enter")]);
      chooser = opened.value;
    }
    if (!chooser) throw new Error(`${selector} opens no file by Enter`);
    await chooser.accept([path.resolve(file)]);
  }
  async slide(selector, value) {
    await this.reach(selector);
    await this.key("Home");
    const steps = await look(this.page, selector, (e, v) => Math.round((v - e.min) / e.step), value);
    for (let i = 0; i < steps; i++) await this.key("ArrowRight");
  }
}
