// Sizes, times and rates as text. Parsing is left to the library, which knows the same texts.

const binary = ["B", "KiB", "MiB", "GiB", "TiB"];

export function bytesText(bytes) {
  if (!Number.isFinite(bytes)) return "–";
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && unit < binary.length - 1) {
    value /= 1024;
    ++unit;
  }
  return `${digits(value, 3)} ${binary[unit]}`;
}

// With decimal units, as bandwidths and lectures have them.
export function decimalBytes(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  let value = bytes;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    ++unit;
  }
  return `${digits(value, 4)} ${units[unit]}`;
}

export function secondsText(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  if (seconds === 0) return "0 s";
  const units = [
    [1, "s"],
    [1e-3, "ms"],
    [1e-6, "µs"],
    [1e-9, "ns"],
  ];
  for (const [scale, unit] of units) {
    if (Math.abs(seconds) >= scale * 0.9995) return `${digits(seconds / scale, 3)} ${unit}`;
  }
  return `${digits(seconds / 1e-12, 3)} ps`;
}

export function rateText(rate) {
  const units = [
    [1e12, "TB/s"],
    [1e9, "GB/s"],
    [1e6, "MB/s"],
    [1e3, "kB/s"],
  ];
  for (const [scale, unit] of units) if (rate >= scale * 0.9995) return `${digits(rate / scale, 4)} ${unit}`;
  return `${digits(rate, 4)} B/s`;
}

export function digits(value, count) {
  if (value === 0) return "0";
  const text = Math.abs(value) >= 10 ** count ? value.toFixed(0) : value.toPrecision(count);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

export function commas(number) {
  return Math.round(number).toLocaleString("en-US");
}

export function percentText(part) {
  return part === null || part === undefined ? "–" : `${(100 * part).toFixed(1)} %`;
}

// A fraction of the data D in lowest terms: 14 of 7 → "2 D", 1 of 5 → "D/5".
export function shareText(amount, whole) {
  if (amount === 0) return "0";
  let [a, b] = [amount, whole];
  while (b) [a, b] = [b, a % b];
  const [above, below] = [amount / a, whole / a];
  if (below === 1) return above === 1 ? "D" : `${commas(above)} D`;
  return above === 1 ? `D/${below}` : `${commas(above)}/${below} D`;
}

const subscripts = "₀₁₂₃₄₅₆₇₈₉";

export function subscript(number) {
  return String(number).replace(/\d/g, (digit) => subscripts[digit]);
}

// The letter of a rank's contributions: a, b, …, and past 26 its number.
export function letter(rank) {
  return rank < 26 ? String.fromCharCode(97 + rank) : `r${rank}`;
}

export function plural(count, noun) {
  return `${commas(count)} ${noun}${count === 1 ? "" : "s"}`;
}

// Sizes from 64 B to 4 GiB on a slider: a step is a factor of two.
export const sizeSteps = Array.from({ length: 37 }, (_, i) => 2 ** i);

export function sizeName(bytes) {
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && value % 1024 === 0 && unit < binary.length - 1) {
    value /= 1024;
    ++unit;
  }
  return unit === 0 ? `${value}` : `${value}${binary[unit]}`;
}

// "1MiB", "64 kB", "17" as bytes; NaN if it is none of these. Only for placing sliders and lines.
export function roughBytes(text) {
  const found = /^\s*([\d.]+(?:e\d+)?)\s*([kmgt]?)(i?)(b?)\s*$/i.exec(text);
  if (!found) return NaN;
  const power = " kmgt".indexOf(found[2].toLowerCase() || " ");
  const base = found[4] && !found[3] && found[2] ? 1000 : 1024;
  return Number(found[1]) * base ** power;
}

export function roughSeconds(text) {
  const found = /^\s*([\d.e+-]+?)\s*(ns|us|µs|ms|s)?\s*$/.exec(text);
  if (!found) return NaN;
  return Number(found[1]) * { ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1, undefined: 1 }[found[2]];
}

export function roughRate(text) {
  const found = /^\s*([\d.]+)\s*([kmgt]?)(i?)(b)\/s\s*$/i.exec(text);
  if (!found) return NaN;
  const power = " kmgt".indexOf(found[2].toLowerCase() || " ");
  return (Number(found[1]) * (found[3] ? 1024 : 1000) ** power) / (found[4] === "b" ? 8 : 1);
}
