import { ask } from "./engine.js";
import { h } from "./dom.js";
import { encodeGif } from "./gif.js";
import { problem, state } from "./state.js";
import { damageList } from "./damage.js";

// What the reader sees as files: SVG, PNG, GIF and JSON.

function save(blob, name) {
  const address = URL.createObjectURL(blob);
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 5000);
}

function saveText(text, name, type) {
  save(new Blob([text], { type }), name);
}

function menu(label, items) {
  const details = h("details", { class: "menu" }, h("summary", { id: "export" }, label));
  details.append(
    h(
      "div",
      {},
      items.map(([id, words, act]) =>
        h(
          "button",
          {
            type: "button",
            id,
            onclick: async () => {
              details.open = false;
              await act();
            },
          },
          words,
        ),
      ),
    ),
  );
  details.addEventListener("keydown", (event) => {
    if (event.key === "Escape") details.open = false;
  });
  return details;
}

const gifWidth = 760;
const framesPerRound = 12;
const mostFrames = 400;

// Every round of a film as an animated GIF: messages travel, then the result stays for a moment.
export async function filmGif(stage, film, progress = () => {}) {
  const frames = [];
  const per = Math.max(1, Math.min(framesPerRound, Math.floor(mostFrames / Math.max(1, film.rounds))));
  const width = Math.min(gifWidth, Math.round(stage.shape.width * 1.2));
  for (let round = 0; round <= film.rounds; ++round) {
    frames.push({ canvas: stage.bitmap(round, width), delay: round === film.rounds ? 250 : 60 });
    for (let i = 1; i < per && round < film.rounds; ++i)
      frames.push({ canvas: stage.bitmap(round + i / per, width), delay: 7 });
    progress(round / Math.max(1, film.rounds));
    await new Promise((go) => setTimeout(go));
  }
  stage.draw(stage.time);
  return encodeGif(frames);
}

export function exportMenu({ stage, film, time, name }) {
  const title = () => `${film().algorithm} on ${film().ranks} ranks, ${film().roundWords(Math.round(time()))}`;
  return menu("Save", [
    [
      "save-svg",
      "This picture as SVG",
      () => saveText(stage().svg(Math.round(time()), title()), `${name()}-${Math.round(time())}.svg`, "image/svg+xml"),
    ],
    [
      "save-png",
      "This picture as PNG",
      async () =>
        save(
          await new Promise((done) =>
            stage()
              .bitmap(time(), Math.round(stage().shape.width * 2))
              .toBlob(done),
          ),
          `${name()}-${Math.round(time())}.png`,
        ),
    ],
    ["save-gif", "The whole run as GIF", async () => save(await filmGif(stage(), film()), `${name()}.gif`)],
    [
      "save-json",
      "The schedule as JSON",
      () =>
        saveText(ask("schedule", { ...problem(), damage: damageList() }).text, `${name()}.json`, "application/json"),
    ],
    ["save-story", "The rounds in words", () => saveText(ask("story", problem()).text, `${name()}.txt`, "text/plain")],
  ]);
}

export function exportTable(table, name, answer) {
  return menu("Save", [
    [
      "save-json",
      "The table as JSON",
      () => saveText(JSON.stringify(answer(), null, 1), `${name}.json`, "application/json"),
    ],
    [
      "save-csv",
      "The table as CSV",
      () =>
        saveText(
          [...table().rows]
            .map((row) => [...row.cells].map((cell) => `"${cell.textContent.replaceAll('"', '""')}"`).join(","))
            .join("\n"),
          `${name}.csv`,
          "text/csv",
        ),
    ],
  ]);
}

// An SVG element of the page as a file: the styles that it gets from the page are written into it.
export function elementSvg(svg) {
  const copy = svg.cloneNode(true);
  const properties = [
    "fill",
    "stroke",
    "stroke-width",
    "stroke-dasharray",
    "opacity",
    "font-size",
    "font-weight",
    "font-family",
    "text-anchor",
    "stroke-linecap",
  ];
  const [from, to] = [
    [svg, ...svg.querySelectorAll("*")],
    [copy, ...copy.querySelectorAll("*")],
  ];
  from.forEach((each, i) => {
    const style = getComputedStyle(each);
    to[i].setAttribute("style", properties.map((key) => `${key}:${style.getPropertyValue(key)}`).join(";"));
  });
  const box = svg.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", box.width);
  copy.setAttribute("height", box.height);
  return new XMLSerializer().serializeToString(copy);
}

export function exportSvg(svg, name, answer) {
  return menu("Save", [
    ["save-svg", "This picture as SVG", () => saveText(elementSvg(svg()), `${name()}.svg`, "image/svg+xml")],
    ["save-png", "This picture as PNG", async () => save(await svgPng(svg()), `${name()}.png`)],
    [
      "save-json",
      "The figures as JSON",
      () => saveText(JSON.stringify(answer(), null, 1), `${name()}.json`, "application/json"),
    ],
  ]);
}

function svgPng(svg) {
  const box = svg.viewBox.baseVal;
  const image = new Image();
  return new Promise((done, fail) => {
    image.onload = () => {
      const canvas = h("canvas", { width: Math.round(box.width * 2), height: Math.round(box.height * 2) });
      const context = canvas.getContext("2d");
      context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--paper");
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob(done);
    };
    image.onerror = fail;
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(elementSvg(svg))}`;
  });
}

export function fileName() {
  return `${state.c}-${state.a}-p${state.p}`;
}
