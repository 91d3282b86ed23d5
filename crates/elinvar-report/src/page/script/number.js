const root = document.documentElement;
root.classList.add("js");
const $ = (selector, from = document) => from.querySelector(selector);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];
const SVG = "http://www.w3.org/2000/svg";
const make = (name, attributes) => {
  const element = document.createElementNS(SVG, name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  return element;
};

/* Numbers, as in the page: a true minus sign, few digits. */
const plain = (v, digits) => {
  if (v === 0) return "0";
  const size = Math.abs(v);
  const text = size >= 1e6 || size < 1e-4 ? v.toExponential(digits - 1) : String(Number(v.toPrecision(digits)));
  return text.replace("-", "−").replace("e+", " × 10^").replace("e−", " × 10^−").replace("e-", " × 10^−");
};
const withError = (v, se) => {
  if (!(se > 0)) return plain(v, 6);
  const decimals = Math.min(8, Math.max(2, 1 - Math.floor(Math.log10(se))));
  return `${v.toFixed(decimals).replace("-", "−")} ± ${se.toFixed(decimals)}`;
};
const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

/* Marks of an axis. */
const marks = ({ log, low, high }, target) => {
  if (log) {
    const decades = [];
    for (let e = Math.ceil(Math.log10(low) - 1e-9); e <= Math.log10(high) + 1e-9; e++) decades.push(10 ** e);
    const every = Math.ceil(decades.length / target);
    if (decades.length >= 2) return decades.filter((_, i) => i % every === 0);
  }
  const rough = (high - low) / target;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((f) => f >= (rough / power) * 0.7) * power;
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) found.push(i * step);
  return found;
};
const label = (v, step) => {
  if (v === 0) return "0";
  const size = Math.abs(v);
  if (size >= 1e6) return `${Number((v / 1e6).toPrecision(4))} M`.replace("-", "−");
  if (size >= 1e4 && step >= 10) return `${Number((v / 1e3).toPrecision(5))} k`.replace("-", "−");
  if (size < 1e-3 && step < 1e-4) return plain(v, 2);
  const decimals = Math.min(8, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  return v.toFixed(decimals).replace("-", "−");
};
