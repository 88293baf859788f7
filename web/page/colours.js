// Colours of ranks and of the theme, for drawings on canvas and in SVG.

let theme = null;

export function themeColours() {
  if (theme) return theme;
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(name).trim();
  theme = {
    dark: read("--dark") === "1",
    paper: read("--paper"),
    card: read("--card"),
    ink: read("--ink"),
    soft: read("--soft"),
    rim: read("--rim"),
    empty: read("--empty"),
    accent: read("--accent"),
    good: read("--good"),
    bad: read("--bad"),
    warm: read("--warm"),
  };
  return theme;
}

export function forgetTheme() {
  theme = null;
  cache.clear();
}

const cache = new Map();

function cached(key, make) {
  if (!cache.has(key)) cache.set(key, make());
  return cache.get(key);
}

// Hues at equal distances. Neighbours of small groups differ also in lightness, for readers who see
// fewer colours.
export function rankColour(rank, ranks) {
  const palette = cached(ranks, () => Array.from({ length: Math.max(ranks, 1) }, (_, i) => hueOf(i, ranks)));
  return palette[rank];
}

function hueOf(rank, ranks) {
  const { dark } = themeColours();
  const hue = (250 + (360 * rank) / Math.max(ranks, 3)) % 360;
  const lift = rank % 2 ? 0.06 : -0.03;
  return rgb((dark ? 0.72 : 0.66) + lift, dark ? 0.13 : 0.14, hue);
}

// OKLCH to sRGB: canvases and SVG files of other programs do not all know oklch().
function rgb(lightness, chroma, hue) {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const n = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * n,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * n,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * n,
  ];
  const [red, green, blue] = linear.map((each) => {
    const value = Math.min(1, Math.max(0, each));
    return Math.round(255 * (value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055));
  });
  return `rgb(${red},${green},${blue})`;
}

// From idle to busiest: pale blue over violet to red; brighter on dark paper.
export function heatColour(part) {
  const step = Math.round(Math.min(1, Math.max(0, part)) * 40) / 40;
  return cached(`h${step}`, () => {
    const { dark } = themeColours();
    const hue = 255 - 235 * step + (step < 0.5 ? 0 : 0);
    const lightness = dark ? 0.5 + 0.25 * step : 0.82 - 0.27 * step;
    return rgb(lightness, 0.06 + 0.15 * step, (hue + 360) % 360);
  });
}

// Colours of lines in a chart: as different as possible for their number.
export function lineColour(index, count) {
  return cached(`l${index}/${count}`, () => {
    const { dark } = themeColours();
    return rgb(
      (dark ? 0.76 : 0.58) + (index % 3 === 1 ? 0.08 : index % 3 === 2 ? -0.06 : 0),
      0.15,
      (255 + 360 * index * 0.382 + 0) % 360,
      1,
    );
  });
}
