import { ask } from "./engine.js";
import { h, put, s } from "./dom.js";
import { rankColour, themeColours } from "./colours.js";
import { collectiveTitle, shortName } from "./controls.js";
import { exercises } from "./exercises.js";
import { Film } from "./film.js";
import { algorithmsOf, catalogue, collectiveOf, fragmentOf, link, state, update } from "./state.js";
import { pictureOf, slips } from "./texts_collectives.js";
import { startTour, tours } from "./tours.js";
import { plural } from "./units.js";

// Definitions with their pictures of boxes, tours, exercises, and what textbooks get wrong.

const shownRanks = 4;

function filmOf(collective) {
  return new Film(ask("play", { algorithm: `${collective}/${pictureOf[collective]}`, ranks: shownRanks }), null);
}

// The boxes of all ranks before or after, as in the lectures.
function boxes(film, after) {
  const held = film.held(after ? film.rounds : 0);
  const [w, hgt, gap, top] = [film.reduces && after ? 104 : 46, 26, 12, 20];
  const rows = film.collective === "barrier" ? 1 : shownRanks;
  const width = shownRanks * (w + gap);
  const svg = s("svg", { viewBox: `0 0 ${width} ${top + rows * hgt + 4}`, width, role: "img" });
  const words = [];
  let count = 0;
  for (let rank = 0; rank < shownRanks; ++rank) {
    svg.append(
      s(
        "text",
        { x: rank * (w + gap) + w / 2, y: 13, "text-anchor": "middle", "font-size": 12, fill: "var(--soft)" },
        `rank ${rank}`,
      ),
    );
    for (let row = 0; row < rows; ++row) {
      const chunk = film.pairs ? (after ? row * shownRanks + rank : rank * shownRanks + row) : row;
      // Afterwards only what the collective promises counts.
      const symbol = after && !film.wanted(rank, chunk) ? 0 : held[rank * film.chunks + chunk];
      const [x, y] = [rank * (w + gap), top + row * hgt];
      const owner = symbol ? (film.isLeaf(symbol) ? film.leaf(symbol)[0] : -1) : -2;
      const fill =
        owner >= 0
          ? rankColour(["broadcast", "scatter"].includes(film.collective) ? 0 : owner, shownRanks)
          : owner === -1
            ? themeColours().good
            : "var(--empty)";
      svg.append(
        s("rect", {
          x: x + 1,
          y: y + 1,
          width: w - 2,
          height: hgt - 3,
          rx: 4,
          fill,
          opacity: owner === -2 ? 0.6 : 0.5,
        }),
      );
      if (!symbol) continue;
      ++count;
      const text = film.isLeaf(symbol)
        ? film.leafName(...(film.pairs ? film.leaf(symbol) : film.leaf(symbol)))
        : film
            .ranksIn(symbol)
            .map((each) => film.leafName(each, chunk))
            .join("+");
      words.push(`rank ${rank}: ${text}`);
      svg.append(
        s(
          "text",
          { x: x + w / 2, y: y + hgt / 2 + 4, "text-anchor": "middle", "font-size": 13, fill: "var(--ink)" },
          text,
        ),
      );
    }
  }
  svg.setAttribute("aria-label", words.join(", "));
  return { svg, count };
}

function collectivePage(name) {
  const text = collectiveOf(name);
  const { dual } = collectiveOf(name);
  const film = filmOf(name);
  const [before, after] = [boxes(film, false), boxes(film, true)];
  const parts = [
    h("h2", {}, collectiveTitle(name)),
    h(
      "p",
      {},
      h("strong", {}, text.says),
      ` A ${text.kind} operation${collectiveOf(name).root ? " with a root, here rank 0" : ""}.`,
    ),
    h("div", { class: "boxes wide" }, before.svg, h("span", { class: "arrow", "aria-hidden": "true" }, "→"), after.svg),
    name === "barrier"
      ? null
      : h(
          "p",
          {},
          `It reads ${plural(before.count, "box")} and writes ${plural(after.count, "box")}`.replaceAll(
            "boxs",
            "boxes",
          ),
          ".",
        ),
    h("p", {}, h("strong", {}, "Used for. "), text.use),
  ];
  if (dual) {
    const other = filmOf(dual);
    const counts = [boxes(other, false).count, boxes(other, true).count];
    parts.push(
      h("h3", {}, "Its dual"),
      h(
        "p",
        {},
        link(collectiveTitle(dual), { view: "learn", topic: dual }),
        ` is ${collectiveTitle(name)} run backwards: it reads ${counts[0]} boxes and writes ${counts[1]}. Sends become receives, copies become additions. So two duals move the same bytes, and most algorithms here are written once and run in both directions.`,
      ),
    );
  }
  if (text.parts.length)
    parts.push(
      h("h3", {}, "Made of others"),
      h(
        "ul",
        {},
        text.parts.map((each) => h("li", {}, `${collectiveTitle(name)} = ${each}.`)),
      ),
    );
  parts.push(
    h("h3", {}, "Algorithms"),
    h(
      "div",
      { class: "tiles wide" },
      algorithmsOf(name).map((each) =>
        h(
          "a",
          {
            class: "tile",
            href: fragmentOf({ view: "play", c: name, a: each.name.split("/")[1] }),
            onclick: go({ view: "play", c: name, a: each.name.split("/")[1] }),
          },
          h("strong", {}, shortName(each.name)),
          h("span", {}, each.reason?.idea ?? each.summary),
        ),
      ),
    ),
  );
  return parts;
}

const go = (patch) => (event) => {
  event.preventDefault();
  update(patch, { replace: false });
};

function home() {
  return [
    h("h2", {}, "Collective communication, to look at and to touch"),
    h(
      "p",
      {},
      "A group of p ranks exchanges data to one plan: that is a collective. In this page every algorithm of tutti can be played, priced, put on a network, compared, proved and damaged. Nothing is drawn from memory: the library itself runs in the page, so every figure is counted from the same schedule that the library executes between real processes.",
    ),
    h(
      "div",
      { class: "tiles wide" },
      [
        [
          "Play a ring",
          "what every rank holds, round by round",
          { view: "play", c: "allreduce", a: "ring", p: 4, t: 0 },
        ],
        ["Look up a cost", "bytes, rounds, time, bounds, crossovers", { view: "cost", c: "allreduce", p: 16 }],
        [
          "Put it on a torus",
          "loads, stretch, a simulated run",
          { view: "network", c: "allreduce", a: "ring", p: 16, net: "torus:4x4,bandwidth=25GB/s" },
        ],
        [
          "Ring or tree?",
          "side by side, by the clock",
          { view: "compare", c: "allreduce", a: "ring", b: "binomial", p: 8, sync: "clock" },
        ],
        ["Break it", "drop a message and read the proof", { view: "proof", c: "allreduce", a: "ring", p: 4 }],
      ].map(([words, more, patch]) =>
        h(
          "a",
          { class: "tile", href: fragmentOf(patch), onclick: go(patch) },
          h("strong", {}, words),
          h("span", {}, more),
        ),
      ),
    ),
    h("h3", {}, "Tours"),
    h(
      "div",
      { class: "tiles wide" },
      tours.map((tour) =>
        h(
          "a",
          {
            class: "tile",
            href: fragmentOf({ ...tour.steps[0].set, tour: tour.id, step: 0 }),
            "data-tour": tour.id,
            onclick: (event) => {
              event.preventDefault();
              startTour(tour.id);
            },
          },
          h("strong", {}, tour.title),
          h("span", {}, tour.says),
        ),
      ),
    ),
    h("h3", {}, "The three layers"),
    h(
      "p",
      {},
      h("strong", {}, "Definitions"),
      " say what goes in and what comes out. The ",
      h("strong", {}, "overlay"),
      " is the algorithm: who sends which chunk to whom, in which round. The ",
      h("strong", {}, "underlay"),
      " is the network: an overlay link is a route through it, and two routes may share a link.",
    ),
    h("h3", {}, "The α-β-γ model"),
    h(
      "p",
      {},
      "A message of s bytes takes α + sβ, adding s bytes takes sγ. α is latency, β seconds per byte (the bandwidth is 1/β). With one port a rank sends one message, receives one and adds at a time. The time of a schedule is its critical path: the chain of messages and sums that ends last. It is found by pricing every message, and, where there is one, by a formula; both are tested equal.",
    ),
    h("h3", {}, "From a terminal"),
    h(
      "p",
      {},
      "Everything here is also a command: ",
      h("code", {}, "tutti explain allreduce/ring -p 4"),
      ", ",
      h("code", {}, "tutti cost allreduce -p 16 --size 1MiB"),
      ", ",
      h("code", {}, "tutti sim allreduce/ring --topo torus:4x4"),
      ", ",
      h("code", {}, "tutti verify allreduce -p 1-33"),
      `. tutti ${catalogue.version}.`,
    ),
  ];
}

function exercisePage(exercise) {
  const place = h("div", { class: "answer", id: "answer", "aria-live": "polite" });
  const button = h(
    "button",
    {
      type: "button",
      class: "main",
      id: "reveal",
      onclick: async () => {
        button.remove();
        place.textContent = "Computing…";
        const { parts, figures } = await exercise.answer();
        place.dataset.result = JSON.stringify(figures);
        put(place, h("h4", {}, "Answer"), ...parts);
      },
    },
    "Compute the answer",
  );
  place.append(button);
  return [h("h2", {}, `Exercise ${exercise.id.slice(3)}: ${exercise.title}`), h("p", {}, exercise.asks), place];
}

function slipPage() {
  return [
    h("h2", {}, "What textbooks get wrong"),
    h(
      "p",
      {},
      "Texts on collectives contain slips, and they are copied from one to the next. Each of these can be checked here.",
    ),
    ...slips.map(([title, text, patch, words]) =>
      h("div", { class: "slip" }, h("h3", {}, title), h("p", {}, `${text} `, link(`${words}.`, patch))),
    ),
  ];
}

export function learnView() {
  const contents = h("nav", { class: "contents", "aria-label": "Contents", style: "display:block" });
  const page = h("article", { class: "page", id: "page" });
  const element = h("div", { class: "learn" }, contents, page);

  function drawContents() {
    const entry = (topic, words) =>
      h(
        "a",
        {
          href: fragmentOf({ view: "learn", topic }),
          "aria-current": state.topic === topic ? "page" : null,
          onclick: go({ view: "learn", topic }),
        },
        words,
      );
    put(
      contents,
      entry("", "Start here"),
      h("h3", {}, "Definitions"),
      ...catalogue.collectives.map((each) => entry(each.name, collectiveTitle(each.name))),
      h("h3", {}, "Tours"),
      ...tours.map((tour) =>
        h(
          "a",
          {
            href: fragmentOf({ ...tour.steps[0].set, tour: tour.id, step: 0 }),
            onclick: (event) => {
              event.preventDefault();
              startTour(tour.id);
            },
          },
          tour.title,
        ),
      ),
      h("h3", {}, "Exercises"),
      ...exercises.map((each) => entry(each.id, `${each.id.slice(3)}. ${each.title}`)),
      h("h3", {}, "More"),
      entry("slips", "What textbooks get wrong"),
    );
  }

  return {
    element,
    async change(changed) {
      if (!changed.has("topic") && !changed.has("view")) return;
      drawContents();
      const exercise = exercises.find((each) => each.id === state.topic);
      const collective = catalogue.collectives.some((each) => each.name === state.topic);
      put(
        page,
        ...(exercise
          ? exercisePage(exercise)
          : collective
            ? collectivePage(state.topic)
            : state.topic === "slips"
              ? slipPage()
              : home()
        ).filter(Boolean),
      );
      if (changed.has("topic") && !changed.has("view")) scrollTo({ top: 0 });
    },
    // Only the pictures of boxes have colours of the theme. An exercise keeps its answer.
    repaint() {
      if (page.querySelector(".boxes")) this.change(new Set(["view"]));
    },
  };
}
