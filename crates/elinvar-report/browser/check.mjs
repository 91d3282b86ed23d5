// Opens reports in Chromium and checks what a person would see.
//
//     node check.mjs CHROMIUM SHOTS-DIR PAGE.html...
//
// Prints one line per failed check and exits with 1 if there is any. Screenshots and PDFs are left in SHOTS-DIR.
import { mkdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, shots, ...pages] = process.argv.slice(2);
mkdirSync(shots, { recursive: true });
const failures = [];
const args = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
// Without a folder of its own given, Playwright makes a new profile for every launch.
const browser = await chromium.launch({ executablePath, args, timeout: 120_000 });

// What is left of A4 between margins of 14 mm, in pixels.
const PAPER = 688;
const looks = {
  light: { viewport: { width: 1280, height: 800 }, colorScheme: "light" },
  dark: { viewport: { width: 1280, height: 800 }, colorScheme: "dark" },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: "light", hasTouch: true, isMobile: true },
  "no-script": { viewport: { width: 1280, height: 800 }, colorScheme: "light", javaScriptEnabled: false },
};

for (const file of pages) {
  const name = basename(file, ".html");
  for (const [look, options] of Object.entries(looks)) {
    const check = (is, what) => is || failures.push(`${name}, ${look}: ${what}`);
    const context = await browser.newContext(options);
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    page.on("console", (message) => check(!["error", "warning"].includes(message.type()), `console: ${message.text()}`));
    page.on("pageerror", (error) => check(false, `error: ${error.message}`));
    page.on("dialog", (dialog) => { check(false, "a dialog opened"); dialog.dismiss(); });
    page.on("request", (request) => check(/^(file|data):/.test(request.url()), `request: ${request.url()}`));
    await page.goto(pathToFileURL(file).href);
    await page.screenshot({ path: join(shots, `${name}-${look}.png`) });
    await seen(page, check, look);
    if (look === "light") {
      await sorts(page, check);
      await filters(page, check);
      await readsOut(page, check);
      await page.emulateMedia({ media: "print" });
      await page.setViewportSize({ width: PAPER, height: 1000 });
      const wide = await page.evaluate(() => Math.max(...[...document.querySelectorAll("body, table, pre")].map((e) => e.getBoundingClientRect().right)));
      check(wide <= PAPER + 1, `on paper it is ${wide} pixels wide`);
      const pdf = join(shots, `${name}.pdf`);
      await page.pdf({ path: pdf });
      check(readFileSync(pdf).subarray(0, 5).toString() === "%PDF-", "the PDF is none");
    }
    await context.close();
  }
}
await browser.close();
failures.forEach((line) => console.log(line));
process.exit(failures.length ? 1 : 0);

/** The verdict without scrolling, every figure with size, nothing wider than the window, colours as asked for. */
async function seen(page, check, look) {
  const { width, height } = page.viewportSize();
  for (const part of [".verdict h2", ".verdict .reason"]) {
    const box = await page.locator(part).first().boundingBox();
    check(box && box.height > 0 && box.y >= 0 && box.y + box.height <= height, `${part} is not visible without scrolling`);
  }
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  check(wide <= width, `the page is ${wide} pixels wide`);
  const figures = await page.locator("svg[role=img]").evaluateAll((all) => all.map((svg) => {
    const folded = svg.closest("details:not([open])") !== null;
    const box = svg.getBoundingClientRect();
    const text = [...svg.querySelectorAll("text")].filter((t) => t.textContent.trim());
    const boxes = text.map((t) => ({ words: t.textContent, box: t.getBoundingClientRect() })).filter((t) => t.box.width > 0);
    const left = box.left - 1, right = box.right + 1;
    const out = boxes.filter((t) => t.box.left < left || t.box.right > right).map((t) => t.words);
    // Line boxes are taller than letters: a third of a line of overlap is none that can be seen.
    const cross = (a, b) => a.left < b.right && b.left < a.right && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.34 * Math.min(a.height, b.height);
    const over = boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => cross(a.box, b.box)).map((b) => `${a.words} / ${b.words}`));
    return { title: svg.querySelector("title").textContent, folded, width: box.width, height: box.height, out, over };
  }));
  check(figures.length > 0, "there is no figure");
  for (const figure of figures.filter((f) => !f.folded)) {
    check(figure.width > 100 && figure.height > 60, `figure without size: ${figure.title}`);
    check(figure.over.length === 0, `text upon text in ${figure.title}: ${figure.over.join(" | ")}`);
    check(figure.out.length === 0, `text outside of ${figure.title}: ${figure.out.join(" | ")}`);
  }
  const rows = await page.locator("#parameters-table tbody tr").count();
  check(rows > 0 && (await page.locator("#parameters-table tbody tr").first().isVisible()), "the table is not visible");
  const search = await page.locator("#search").isVisible();
  check(search === (look !== "no-script"), "the search box is there exactly if scripts run");
  const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const [red] = paper.match(/\d+/g).map(Number);
  check(look === "dark" ? red < 60 : red > 200, `the background is ${paper}`);
}

/** By a number, up and down, and by keyboard. */
async function sorts(page, check) {
  const head = page.locator("#parameters-table thead tr").nth(1).locator("th").nth(1);
  const values = () => page.locator("#parameters-table tbody tr td:nth-child(2)")
    .evaluateAll((cells) => cells.map((cell) => Number(cell.dataset.v ?? NaN)).filter((v) => !isNaN(v)));
  const isSorted = (list, sign) => list.every((v, i) => i === 0 || sign * (v - list[i - 1]) >= 0);
  await head.locator("button").click();
  check(isSorted(await values(), 1) && (await head.getAttribute("aria-sort")) === "ascending", "the table does not sort upwards");
  await head.locator("button").focus();
  await page.keyboard.press("Enter");
  check(isSorted(await values(), -1) && (await head.getAttribute("aria-sort")) === "descending", "the table does not sort downwards");
}

/** To the name of the last row, and back. */
async function filters(page, check) {
  const rows = page.locator("#parameters-table tbody tr");
  const n = await rows.count();
  const name = await rows.last().locator("th").textContent();
  await page.locator("#search").fill(name.toUpperCase());
  const left = await rows.evaluateAll((all) => all.filter((row) => !row.hidden).map((row) => row.cells[0].textContent));
  check(left.length > 0 && left.every((text) => text.toLowerCase().includes(name.toLowerCase())), "the search does not filter");
  await page.locator("#search").fill("no such name \u2603");
  check((await rows.evaluateAll((all) => all.filter((row) => !row.hidden).length)) === 0, "the search finds what is not there");
  await page.locator("#search").fill("");
  check((await rows.evaluateAll((all) => all.filter((row) => !row.hidden).length)) === n, "the search does not give rows back");
}

/** A value below the pointer and by keyboard, a zoom by dragging, and the way back. */
async function readsOut(page, check) {
  const plot = page.locator("#elbo-evaluations");
  if ((await plot.count()) === 0) return;
  await plot.scrollIntoViewIfNeeded();
  const over = plot.locator(".over");
  const line = () => plot.locator(".line").getAttribute("d");
  const box = await over.boundingBox();
  const at = (share) => [box.x + share * box.width, box.y + box.height / 2];
  await page.mouse.move(...at(0.7));
  check(/ELBO .*±.*step/s.test(await plot.locator(".readout").innerText()), "there is no read-out below the pointer");
  const before = await line();
  const marks = await plot.locator(".axis-x").innerHTML();
  await page.mouse.down();
  await page.mouse.move(...at(0.95), { steps: 4 });
  await page.mouse.up();
  check((await line()) !== before && (await plot.locator(".axis-x").innerHTML()) !== marks, "dragging does not zoom");
  check(!(await line()).includes("NaN"), "the zoomed line is broken");
  await over.focus();
  await page.keyboard.press("ArrowLeft");
  check(await plot.locator(".readout").isVisible(), "there is no read-out by keyboard");
  await page.keyboard.press("0");
  const ticks = await plot.locator(".axis-x .tick").allTextContents();
  check(ticks.length >= 2, "the axis has no marks after the zoom");
  const reset = plot.locator(".zoom button").last();
  check(await reset.isDisabled(), "the zoom is not reset");
}
