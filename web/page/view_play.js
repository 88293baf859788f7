import { askLater, LibraryError } from "./engine.js";
import { choice, h, put, say, segments } from "./dom.js";
import { Film, parseValues } from "./film.js";
import { layoutNames, naturalLayout } from "./layout.js";
import { Player } from "./player.js";
import { Stage } from "./stage.js";
import { algorithmName, findAlgorithm, link, mostPlayed, problem, state, update } from "./state.js";
import { algorithmText } from "./texts_algorithms.js";
import { exportMenu } from "./export.js";
import { plural, letter } from "./units.js";

// Plays one schedule. Also used, without its controls, by the other views.

const shows = [
  ["symbols", "symbols", "a₀ is what rank 0 put into chunk 0"],
  ["values", "numbers", "real numbers, added as they arrive"],
  ["sets", "colours", "one stripe for each rank whose contribution is in the box"],
];

export function playView() {
  const stage = new Stage({ onpick: (found) => pick(found) });
  const player = new Player({
    draw: (time) => stage.draw(time),
    settle: (time) => {
      update({ t: Math.round(time) });
      describe();
    },
  });
  const heading = h("p", { class: "headline", id: "headline" });
  const list = h("ol", { class: "messages", id: "messages" });
  const details = h("div", { class: "details", id: "details" });
  const bar = h("div", { class: "bar" });
  const why = h("section", { class: "why" });
  let film = null;
  let picked = null;
  let spoken = false; // Whether what is picked is also told to screen readers.

  const element = h(
    "div",
    { class: "play" },
    bar,
    h("div", { class: "panel" }, stage.element, player.element, heading),
    h(
      "div",
      { class: "twins" },
      h("section", {}, h("h3", {}, "Messages of this round"), list),
      h("section", {}, h("h3", {}, "A rank, a box"), details),
    ),
    why,
  );

  async function load() {
    const asked = { ...problem() };
    const answer = await askLater("play", asked, "play");
    if (!answer) return;
    film = new Film(answer, state.show === "values" ? parseValues(state.values) : null);
    picked = null;
    stage.picked = null;
    showFilm();
    player.load(film.rounds, state.t);
    describe();
    drawWhy();
  }

  function showFilm() {
    film.numbers = null;
    film.mode = state.show;
    film.values = parseValues(state.values);
    stage.show(film, {
      layout: state.layout,
      mode: state.show,
      follow: state.follow === "" ? null : Number(state.follow),
      maxHeight: Math.max(360, innerHeight - 330),
    });
    drawBar();
  }

  function drawBar() {
    const parts = [
      choice(
        "Ranks stand",
        state.layout,
        layoutNames.map(([key, words]) =>
          key === "auto"
            ? [key, `${words} (${layoutNames.find(([each]) => each === naturalLayout(film))?.[1]})`]
            : [key, words],
        ),
        (layout) => update({ layout }),
        { id: "layout" },
      ),
      segments("Boxes show", state.show, shows, (show) => update({ show })),
    ];
    if (film.chunks > 1 && !film.pairs && film.chunks <= 128) {
      parts.push(
        choice(
          "Follow",
          state.follow,
          [["", "all chunks"], ...Array.from({ length: film.chunks }, (_, i) => [String(i), `chunk ${i}`])],
          (follow) => update({ follow }),
          { id: "follow" },
        ),
      );
    }
    if (state.show === "values") {
      parts.push(
        h(
          "label",
          { class: "field grow" },
          h("span", {}, "Numbers of the ranks"),
          h("input", {
            id: "values",
            type: "text",
            value: state.values,
            placeholder: "1,2,3,4; 5,6,7,8; …",
            title: "the vector of each rank, ranks separated by semicolons",
            onchange: (event) => update({ values: event.target.value }),
          }),
        ),
      );
    }
    parts.push(
      exportMenu({
        stage: () => stage,
        film: () => film,
        time: () => player.time,
        name: () => `${algorithmName().replace("/", "-")}-p${state.p}`,
      }),
    );
    put(bar, ...parts);
  }

  function describe() {
    if (!film) return;
    const round = Math.round(state.t);
    const words = film.roundWords(Math.min(round, film.rounds));
    heading.textContent = words;
    const messages = round > 0 ? (film.messages[round - 1] ?? []) : [];
    const shown = messages.slice(0, 64);
    put(
      list,
      ...(shown.length ? [] : [h("li", { class: "soft" }, round === 0 ? "Press play, or → for one round." : "None.")]),
      ...shown.map((message) =>
        h(
          "li",
          {},
          h(
            "button",
            {
              type: "button",
              class: "plain",
              onmouseenter: () => stage.lift(message),
              onmouseleave: () => stage.lift(null),
              onfocus: () => stage.lift(message),
              onblur: () => stage.lift(null),
            },
            film.messageWords(message, round - 1),
          ),
        ),
      ),
      ...(messages.length > shown.length
        ? [h("li", { class: "soft" }, `… and ${plural(messages.length - shown.length, "more")}`)]
        : []),
    );
    stage.element.setAttribute("aria-label", `${film.algorithm} on ${film.ranks} ranks. ${words} ${summaryOf(round)}`);
    say(words);
    drawDetails();
  }

  // What all ranks hold, in words, for readers who do not see the picture.
  function summaryOf(round) {
    if (!film.runs || film.ranks > 8 || film.pairs) return "";
    const held = film.held(Math.min(round, film.rounds));
    const words = [];
    for (let rank = 0; rank < film.ranks; ++rank) {
      const own = [];
      for (let chunk = 0; chunk < film.chunks; ++chunk) {
        const symbol = held[rank * film.chunks + chunk];
        if (symbol) own.push(state.show === "values" ? film.valueText(symbol) : film.short(symbol, 40));
      }
      words.push(`Rank ${rank} holds ${own.join(", ") || "nothing"}.`);
    }
    return words.join(" ");
  }

  // Up and down go through the ranks, for readers without a pointer.
  stage.element.addEventListener("keydown", (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!by || !film) return;
    event.preventDefault();
    spoken = true;
    pick({ rank: ((picked?.rank ?? (by > 0 ? -1 : 0)) + by + film.ranks) % film.ranks });
    spoken = false;
  });

  function pick(found) {
    picked = found && found.rank !== undefined ? found : null;
    stage.setPicked(found?.message ? { message: found.message[3] } : picked);
    drawDetails(found?.message);
  }

  function drawDetails(message) {
    const round = Math.min(Math.round(state.t), film.rounds);
    if (message) {
      const chunk = film.chunksOf(message)[0];
      put(
        details,
        h("p", {}, film.messageWords(message, Math.max(0, stage.messagesAt(player.time).round))),
        film.chunks > 1 && !film.pairs
          ? h(
              "p",
              {},
              h(
                "button",
                { type: "button", onclick: () => update({ follow: String(chunk) }) },
                `Follow chunk ${chunk}`,
              ),
            )
          : null,
      );
      return;
    }
    if (!picked) {
      put(details, h("p", { class: "soft" }, `Click a box to see where its content comes from. ${legend()}`));
      return;
    }
    const { rank, chunk } = picked;
    const held = film.held(round);
    const rows = [];
    if (chunk !== undefined) {
      const symbol = held[rank * film.chunks + chunk];
      rows.push(
        h(
          "p",
          {},
          h(
            "strong",
            {},
            `Rank ${rank}, ${film.pairs ? `block ${Math.floor(chunk / film.ranks)} → ${chunk % film.ranks}` : `chunk ${chunk}`}: `,
          ),
          symbol ? film.expression(symbol) : "nothing",
          symbol && state.show === "values" ? ` = ${film.valueText(symbol)}` : "",
        ),
      );
      if (symbol && film.reduces)
        rows.push(
          h(
            "p",
            { class: "soft" },
            `${film.contributors(symbol)} of ${film.ranks} contributions; brackets show the order of additions.`,
          ),
        );
      const history = historyOf(rank, chunk, round);
      if (history.length) rows.push(h("p", {}, "Its way here:"), h("ol", { class: "way" }, history));
      if (film.chunks > 1 && !film.pairs)
        rows.push(
          h(
            "p",
            {},
            h(
              "button",
              {
                type: "button",
                onclick: () => update({ follow: state.follow === String(chunk) ? "" : String(chunk) }),
              },
              state.follow === String(chunk) ? "Show all chunks" : `Follow chunk ${chunk}`,
            ),
          ),
        );
    } else {
      const own = [];
      for (let each = 0; each < film.chunks; ++each) {
        const symbol = held[rank * film.chunks + each];
        if (symbol) own.push(state.show === "values" ? film.valueText(symbol) : film.short(symbol, 60));
      }
      const most = 24;
      rows.push(
        h(
          "p",
          {},
          h("strong", {}, `Rank ${rank} holds `),
          own.length ? own.slice(0, most).join(", ") : "nothing",
          own.length > most ? `, and ${own.length - most} more` : "",
          ".",
        ),
      );
      if (spoken) say(`Rank ${rank} holds ${own.slice(0, most).join(", ") || "nothing"}`);
    }
    const { sends, receives } = traffic(rank, round);
    rows.push(
      h(
        "p",
        { class: "soft" },
        `Up to this round it sent ${plural(sends, "message")} and received ${plural(receives, "message")}.`,
      ),
    );
    put(details, ...rows);
  }

  function legend() {
    if (film.collective === "barrier") return "A letter is a rank's signal: a rank may leave when it has heard of all.";
    if (!film.reduces) return `${letter(0)}₀ is what rank 0 contributes as block 0; the colour is that of its origin.`;
    return `${letter(0)}₀ is rank 0's part of chunk 0. A box has a stripe for each contribution in it, and is green when it holds all. What the last round changed is framed.`;
  }

  function historyOf(rank, chunk, round) {
    const found = [];
    for (let k = 0; k < round; ++k) {
      for (const message of film.messages[k]) {
        if (message[1] !== rank || !film.chunksOf(message).includes(chunk)) continue;
        const symbol = film.held(k)[message[0] * film.chunks + chunk];
        found.push(
          h("li", { value: k + 1 }, `from rank ${message[0]}: ${film.short(symbol, 30)}${message[2] ? ", added" : ""}`),
        );
      }
    }
    film.held(round);
    return found;
  }

  function traffic(rank, round) {
    let [sends, receives] = [0, 0];
    for (const each of film.messages.slice(0, round)) {
      for (const message of each) {
        if (message[0] === rank) ++sends;
        if (message[1] === rank) ++receives;
      }
    }
    return { sends, receives };
  }

  function drawWhy() {
    const algorithm = findAlgorithm(film.algorithm);
    put(
      why,
      ...algorithmText(algorithm),
      h(
        "p",
        { class: "links" },
        link("What it costs", { view: "cost" }),
        link("On a network", { view: "network" }),
        link("Beside another", { view: "compare" }),
        link("Its proof", { view: "proof" }),
        link(`What is ${algorithm.collective}?`, { view: "learn", topic: algorithm.collective }),
      ),
    );
  }

  return {
    element,
    player,
    stage,
    async change(changed) {
      if (state.p > mostPlayed)
        throw new LibraryError({
          code: "unsupported",
          message: `Rounds are shown for up to ${mostPlayed} ranks; with ${state.p} only costs are. Move the slider of ranks to the left, or go to Cost.`,
        });
      const again = ["c", "a", "p", "root", "shape", "view"].some((key) => changed.has(key));
      if (again || !film) return load();
      if (["layout", "show", "follow", "values"].some((key) => changed.has(key))) {
        showFilm();
        stage.draw(player.time);
        describe();
      }
      if (changed.has("t") && Math.abs(player.time - state.t) > 0.5) player.load(film.rounds, state.t);
      return undefined;
    },
    repaint() {
      if (film) showFilm();
    },
    key: (event) => player.key(event),
    close() {
      player.stop();
      stage.close();
    },
  };
}
