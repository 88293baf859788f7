import { askLast, LibraryError } from "./engine.js";
import { h, put } from "./dom.js";
import { chart } from "./chart.js";
import { lineColour } from "./colours.js";
import { shortName } from "./controls.js";
import { math } from "./math.js";
import { algorithmName, algorithmsOf, findAlgorithm, mostRanks, model, problem, state, update } from "./state.js";
import { bytesText, commas, digits, roughRate, roughSeconds, secondsText, sizeName } from "./units.js";

// Parts of the view of costs: where figures come from, sensitivity, and the map of the fastest algorithms.

export function colourOf(name) {
  const all = algorithmsOf(name.split("/")[0]).map((each) => each.name);
  return lineColour(all.indexOf(name), all.length);
}

// The table already shows what the library refuses.
export function quiet(error) {
  if (!(error instanceof LibraryError)) throw error;
}

export function drawOrigin(how, row) {
  const algorithm = findAlgorithm(algorithmName());
  const forms = algorithm.formulas;
  const parts = [h("h2", {}, `Where the figures of ${shortName(algorithm.name)} come from`)];
  if (forms) {
    parts.push(
      h(
        "dl",
        { class: "formula", id: "formulas" },
        [
          ["rounds", forms.rounds],
          ["all ranks send", forms.bytes],
          ["one rank in one round", forms.most_in_a_round],
          ["time, one port", forms.seconds],
        ].map(([words, text]) => [h("dt", {}, words), h("dd", {}, math(text))]),
      ),
      h(
        "p",
        { class: "note" },
        "p ranks, n bytes, L = ⌈log₂ p⌉, h = ⌊log₂ p⌋, S the set bits of all numbers below p; α per message, β per byte, γ per byte added. The formulas are for chunks of equal size.",
      ),
    );
  }
  if (row?.one_port && row.formula_seconds !== null && state.ports === "one") {
    const same = Math.abs(row.formula_seconds - row.one_port.seconds) <= 1e-9 * row.one_port.seconds;
    parts.push(
      h(
        "p",
        {},
        `By formula ${secondsText(row.formula_seconds)}, by pricing every message of the schedule ${secondsText(row.one_port.seconds)}: ${same ? "the same." : "different, because n does not divide evenly into chunks."}`,
      ),
    );
  }
  put(how, ...parts, h("div", { id: "rounds" }));
  drawRounds(how).catch(quiet);
}

async function drawRounds(how) {
  if (state.p > 128) return;
  let found;
  try {
    found = await askLast("detail", { ...problem(), size: state.n }, "detail");
  } catch {
    return;
  }
  const place = how.querySelector("#rounds");
  if (!found || !place) return;
  const most = 40;
  const rounds = found.rounds.slice(0, most);
  put(
    place,
    h(
      "details",
      { class: "more" },
      h("summary", {}, "Round by round"),
      h(
        "div",
        { class: "scroll" },
        h(
          "table",
          { class: "figures" },
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              ["round", "messages", "bytes sent", "largest message", "one rank sends at most", "bytes added"].map(
                (each) => h("th", { scope: "col" }, each),
              ),
            ),
          ),
          h(
            "tbody",
            {},
            rounds.map((each, i) =>
              h(
                "tr",
                {},
                h("td", {}, i + 1),
                [each.messages, each.bytes, each.largest, each.most, each.added].map((value) =>
                  h("td", {}, commas(value)),
                ),
              ),
            ),
          ),
        ),
      ),
      found.rounds.length > most ? h("p", { class: "note" }, `… and ${found.rounds.length - most} more rounds`) : null,
    ),
  );
}

export async function drawSensitivity(more) {
  const around = (value) => Array.from({ length: 13 }, (_, i) => value * 10 ** ((i - 6) / 6));
  const alphas = around(roughSeconds(state.alpha) || 1e-6);
  const rates = around(roughRate(state.bw) || 1e11);
  const ranks = [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, mostRanks];
  const plots = [
    {
      axis: "alpha",
      title: "If α changes",
      values: alphas.map((each) => `${each}s`),
      xs: alphas,
      xText: secondsText,
      now: roughSeconds(state.alpha),
      xTitle: "α",
    },
    {
      axis: "bandwidth",
      title: "If the bandwidth changes",
      values: rates.map((each) => `${each / 1e9}GB/s`),
      xs: rates,
      xText: (value) => `${digits(value / 1e9, 3)} GB/s`,
      now: roughRate(state.bw),
      xTitle: "1/β",
    },
    {
      axis: "ranks",
      title: "If there are more ranks",
      values: ranks,
      xs: ranks,
      xText: String,
      now: state.p,
      xTitle: "p",
      xTicks: [2, 8, 32, 128, 512],
    },
  ];
  put(more, ...plots.map((plot) => h("div", { class: "panel", id: `over-${plot.axis}` }, h("h3", {}, plot.title))));
  for (const plot of plots) {
    const answer = await askLast(
      "curves",
      { ...model(), ...(plot.axis === "ranks" ? { shape: "", root: 0 } : {}), axis: plot.axis, values: plot.values },
      `over-${plot.axis}`,
    );
    const place = more.querySelector(`#over-${plot.axis}`);
    if (!answer || !place) return;
    const lines = answer.lines.map((line) => ({
      name: line.algorithm,
      label: shortName(line.algorithm),
      colour: colourOf(line.algorithm),
      values: line.seconds,
      width: line.algorithm === algorithmName() ? 3 : 1.3,
      faint: false,
    }));
    place.append(
      chart({
        ...plot,
        lines,
        yText: secondsText,
        names: false,
        width: 420,
        height: 250,
        title: `${plot.title}: time of every algorithm`,
        online: (line) => update({ a: line.name.split("/")[1] }),
      }),
    );
  }
}

export async function drawWinners(map) {
  const ranks = [2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32, 48, 64];
  const steps = Array.from({ length: 26 }, (_, i) => 2 ** (i + 5));
  const answer = await askLast(
    "winners",
    { ...model({ n: "1" }), shape: "", root: 0, ranks_list: ranks, sizes: steps.map(String) },
    "winners",
  );
  if (!answer) return;
  const names = [...new Set(answer.rows.flat().filter(Boolean))];
  const table = h(
    "table",
    { class: "winners", style: "border-collapse:collapse;width:100%;table-layout:fixed" },
    h("caption", { class: "unseen" }, "The fastest algorithm for each number of ranks and size"),
    [...ranks.keys()].reverse().map((i) =>
      h(
        "tr",
        {},
        h(
          "th",
          {
            scope: "row",
            style: "width:3.2em;font-weight:400;font-size:.8rem;color:var(--soft);text-align:right;padding-right:8px",
          },
          ranks[i],
        ),
        answer.rows[i].map((name, k) =>
          h("td", {
            style: `background:${name ? colourOf(name) : "var(--empty)"};height:17px;border:1px solid var(--paper);cursor:pointer`,
            title: `${ranks[i]} ranks, ${bytesText(steps[k])}: ${name ? shortName(name) : "no formula"}`,
            onclick: () => update({ a: name.split("/")[1], p: ranks[i], n: sizeName(steps[k]) }),
          }),
        ),
      ),
    ),
    h(
      "tr",
      {},
      h("td", {}),
      steps.map((each, i) =>
        h(
          "td",
          { style: "font-size:.72rem;color:var(--soft);white-space:nowrap;overflow:visible" },
          i % 5 === 0 ? bytesText(each) : "",
        ),
      ),
    ),
  );
  put(
    map,
    h("h2", {}, "Which is fastest?"),
    h(
      "p",
      { class: "note" },
      "For every number of ranks (upwards) and size (to the right), with this α, β, γ. Click a field to go there.",
    ),
    h("div", { class: "scroll" }, h("div", { style: "min-width:520px" }, table)),
    h(
      "div",
      { class: "keylist" },
      names.map((name) =>
        h(
          "span",
          {},
          h("span", { class: "swatch square", style: `background:${colourOf(name)}` }),
          ` ${shortName(name)}`,
        ),
      ),
    ),
  );
}
