import { askLater, LibraryError } from "./engine.js";
import { choice, h, put, say, segments } from "./dom.js";
import { Film, parseValues } from "./film.js";
import { Player } from "./player.js";
import { Stage } from "./stage.js";
import { shortName } from "./controls.js";
import { algorithmName, algorithmsOf, mostPlayed, model, problem, state, update } from "./state.js";
import { bytesText, commas, digits, roughRate, roughSeconds, secondsText } from "./units.js";

// Two algorithms of one collective side by side, in step: round by round, or by the clock.

export function compareView() {
  const stages = [new Stage({ small: true }), new Stage({ small: true })];
  const player = new Player({ draw: (time) => draw(time), settle: (time) => settle(time) });
  const heads = [h("h3", {}), h("h3", {})];
  const notes = [h("p", { class: "note" }), h("p", { class: "note" })];
  const bar = h("div", { class: "bar" });
  const table = h("div", { class: "panel" });
  const element = h(
    "div",
    { class: "stack" },
    bar,
    h(
      "div",
      { class: "panel" },
      h(
        "div",
        { class: "pair" },
        [0, 1].map((i) => h("section", {}, heads[i], stages[i].element, notes[i])),
      ),
      player.element,
    ),
    table,
  );
  let films = [];
  let clocks = [];

  // When each round begins, in seconds: rounds share the priced time by what their busiest rank sends.
  function clockOf(film, detail, seconds) {
    const alpha = roughSeconds(state.alpha) || 0;
    const beta = 1 / (roughRate(state.bw) || 1e11);
    const weights = detail.rounds.map(
      (each) => alpha * Math.max(1, each.largest ? Math.round(each.most / each.largest) : 1) + each.most * beta,
    );
    const sum = weights.reduce((all, each) => all + each, 0) || 1;
    const begins = [0];
    for (const each of weights) begins.push(begins.at(-1) + (each / sum) * seconds);
    return begins;
  }

  function timeIn(i, time) {
    if (state.sync === "round") return Math.min(time, films[i].rounds);
    const whole = Math.max(...clocks.map((each) => each.at(-1)));
    const now = (time / Math.max(1, player.rounds)) * whole;
    const begins = clocks[i];
    if (now >= begins.at(-1)) return films[i].rounds;
    const round = begins.findIndex((each, k) => now >= each && now < begins[k + 1]);
    return round + (now - begins[round]) / (begins[round + 1] - begins[round]);
  }

  function draw(time) {
    if (films.length < 2) return;
    films.forEach((film, i) => {
      const own = timeIn(i, time);
      stages[i].draw(own);
      const round = Math.ceil(own - 1e-9);
      const clock =
        state.sync === "clock"
          ? ` · ${secondsText((time / Math.max(1, player.rounds)) * Math.max(...clocks.map((each) => each.at(-1))))}`
          : "";
      notes[i].textContent =
        own >= film.rounds
          ? `done in ${film.rounds} rounds${state.sync === "clock" ? `, ${secondsText(clocks[i].at(-1))}` : ""}`
          : `${film.roundWords(round).replace(/\.$/, "")}${clock}`;
    });
  }

  function settle(time) {
    update({ t: Math.round(time) });
    films.forEach((film, i) =>
      stages[i].element.setAttribute(
        "aria-label",
        `${film.algorithm} on ${film.ranks} ranks. ${film.roundWords(Math.min(film.rounds, Math.round(timeIn(i, time))))}`,
      ),
    );
    say(notes.map((each) => each.textContent).join(". "));
  }

  async function load() {
    const [first, second] = [problem(), problem({ a: state.b })];
    const port = state.ports === "one" ? "one_port" : "own_links";
    const answers = await Promise.all(
      [first, second].flatMap((each, i) => [
        askLater("play", each, `play-${i}`),
        askLater("cost", { ...model(), prices: port, algorithm: each.algorithm }, `cost-${i}`),
        askLater("detail", { ...each, size: state.n }, `detail-${i}`),
      ]),
    );
    if (answers.some((each) => !each)) return;
    const [one, costs, detail, other, otherCosts, otherDetail] = answers;
    films = [one, other].map((each) => new Film(each, parseValues(state.values)));
    const rows = [costs, otherCosts].map((each) => each.algorithms[0]);
    clocks = [detail, otherDetail].map((each, i) => clockOf(films[i], each, rows[i][port].seconds));
    const height = Math.max(300, innerHeight - 420);
    stages.forEach((stage, i) => stage.show(films[i], { layout: "auto", mode: state.show, maxHeight: height }));
    drawBar();
    drawTable(rows, costs, port);
    player.load(Math.max(films[0].rounds, films[1].rounds), state.t);
    settle(player.time);
  }

  function drawBar() {
    const options = algorithmsOf(state.c).map((each) => [each.name.split("/")[1], shortName(each.name)]);
    put(
      bar,
      choice("Left", state.a, options, (a) => update(a === state.b ? { a, b: state.a } : { a }), { id: "left" }),
      choice("Right", state.b, options, (b) => update(b === state.a ? { b, a: state.b } : { b }), { id: "right" }),
      segments(
        "In step",
        state.sync,
        [
          ["round", "round by round"],
          ["clock", "by the clock", "rounds are as long as their share of the priced time"],
        ],
        (sync) => update({ sync }),
      ),
      segments(
        "Boxes show",
        state.show,
        [
          ["symbols", "symbols"],
          ["values", "numbers"],
          ["sets", "colours"],
        ],
        (show) => update({ show }),
      ),
    );
    heads[0].textContent = shortName(algorithmName());
    heads[1].textContent = shortName(algorithmName(state.b));
  }

  function drawTable(rows, costs, port) {
    const lines = [
      ["time", (row) => row[port].seconds, secondsText],
      ["rounds", (row) => row.rounds, commas],
      ["messages", (row) => row.messages, commas],
      ["all ranks send", (row) => row.bytes, bytesText],
      ["one rank sends at most", (row) => row.most_sent, bytesText],
      ["in one round at most", (row) => row.most_in_a_round, bytesText],
      ["bytes added", (row) => row.reduced, bytesText],
    ];
    put(
      table,
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
              h("th", {}, `n = ${bytesText(costs.size)}, ${state.p} ranks`),
              films.map((film) => h("th", { scope: "col" }, shortName(film.algorithm))),
              h("th", { scope: "col" }, "left : right"),
            ),
          ),
          h(
            "tbody",
            {},
            lines.map(([words, read, text]) => {
              const [a, b] = rows.map(read);
              return h(
                "tr",
                {},
                h("td", {}, words),
                h("td", { style: a < b ? "font-weight:700" : null }, text(a)),
                h("td", { style: b < a ? "font-weight:700" : null }, text(b)),
                h("td", { class: "soft" }, b ? `${digits(a / b, 3)}×` : "–"),
              );
            }),
          ),
        ),
      ),
    );
  }

  return {
    element,
    player,
    stages,
    async change(changed) {
      if (state.p > mostPlayed)
        throw new LibraryError({
          code: "unsupported",
          message: `Rounds are shown for up to ${mostPlayed} ranks. Move the slider of ranks to the left.`,
        });
      if (state.a === state.b)
        throw new LibraryError({ code: "unsupported", message: `There is only one algorithm for ${state.c}.` });
      if (changed.size === 1 && changed.has("t")) {
        if (Math.abs(player.time - state.t) > 0.5) player.load(player.rounds, state.t);
        return;
      }
      await load();
    },
    repaint() {
      films.forEach((film, i) =>
        stages[i].show(film, { layout: "auto", mode: state.show, maxHeight: Math.max(300, innerHeight - 420) }),
      );
      draw(player.time);
    },
    key: (event) => player.key(event),
    close() {
      player.stop();
      stages.forEach((each) => each.close());
    },
  };
}
