import { askLast, askLater, LibraryError } from "./engine.js";
import { choice, h, put, say } from "./dom.js";
import { Film } from "./film.js";
import { Player } from "./player.js";
import { Stage } from "./stage.js";
import { shortName } from "./controls.js";
import { damageKinds, damageList, damageText } from "./damage.js";
import { algorithmName, mostPlayed, problem, state, update } from "./state.js";
import { plural } from "./units.js";

// The proof of a schedule, and a mode in which the reader damages it.

const claims = [
  ["malformed", "Every step is well formed: ranks and chunks exist, no rank sends to itself."],
  ["unmatched", "Every send meets a receive, and every receive a send."],
  ["chunk mismatch", "Both ends of a message name the same chunks."],
  ["round mismatch", "Both ends are in the same round."],
  ["race", "No two steps of a round touch the same bytes unless all read."],
  ["deadlock", "No order of execution waits for itself."],
  ["unwritten", "Nothing is read before it is written."],
  ["wrong output", "Every output holds exactly the contributions that the collective asks for, each once."],
  ["disagreement", "Ranks with the same result have added in the same order: the same bits."],
];

// The checks build on each other: after a failure, the later ones were not made.
const stages = { malformed: 1, unmatched: 2, "chunk mismatch": 2 };

const mostListed = 400;

export function proofView() {
  const stage = new Stage({ small: true, onpick: (found) => found?.message && choose(found.message[3]) });
  const player = new Player({ draw: (time) => stage.draw(time), settle: (time) => update({ t: Math.round(time) }) });
  const verdict = h("div", { class: "panel", id: "verdict", "aria-live": "polite" });
  const bench = h("div", { class: "panel", id: "bench" });
  const board = h("div", { class: "panel" }, stage.element, player.element);
  const trial = h("div", { class: "panel", id: "trial" });
  const element = h("div", { class: "stack" }, verdict, h("div", { class: "pair" }, board, bench), trial);
  let film = null;
  let plan = null;
  let chosen = 0;

  function drawVerdict(answer) {
    const broken = new Set(answer.violations.map((each) => each.kind));
    const reached = Math.min(...answer.violations.map((each) => stages[each.kind] ?? 9), 9);
    const damaged = state.damage !== "";
    // Most faults are found twice: out of place and in place.
    const unique = [...new Set(answer.violations.map((each) => each.message))];
    const checks = claims.map(([kind, words], i) => {
      const unknown = !broken.has(kind) && ((reached === 1 && i > 0) || (reached === 2 && i > 2));
      return h(
        "li",
        { class: broken.has(kind) ? "broken" : unknown ? "unknown" : null },
        words,
        unknown ? h("span", { class: "soft" }, " Not checked: messages do not meet.") : null,
      );
    });
    verdict.className = answer.ok ? "panel" : "panel";
    put(
      verdict,
      h(
        "div",
        { class: `verdict ${answer.ok ? "" : "wrong"}` },
        h("span", { class: "sign", "aria-hidden": "true" }, answer.ok ? "✓" : "✗"),
        h(
          "div",
          {},
          h(
            "strong",
            {},
            answer.ok
              ? `${shortName(algorithmName())} on ${plural(state.p, "rank")} is proved${damaged ? ", in spite of the damage" : ""}.`
              : `Not proved: ${plural(unique.length, "violation")}.`,
          ),
          h(
            "p",
            { class: "note" },
            `${plural(answer.messages, "message")} and ${plural(answer.steps, "step")} run on symbols, out of place and in place. Content hash ${answer.hash}.${answer.folds_in_rank_order ? " Every output is one fold in order of rank, so the bits depend neither on the algorithm nor on chunks." : ""}`,
          ),
        ),
      ),
      h(
        "div",
        { class: answer.violations.length ? "pair" : "" },
        h("ul", { class: "checks" }, checks),
        h(
          "div",
          {},
          answer.violations.length
            ? h(
                "ol",
                { class: "violations", id: "violations" },
                unique.slice(0, 24).map((each) => h("li", {}, each)),
              )
            : null,
          unique.length > 24 ? h("p", { class: "note" }, `… and ${unique.length - 24} more.`) : null,
        ),
      ),
    );
    if (damaged) say(answer.ok ? "Still proved." : `Not proved: ${answer.violations[0].message}`);
  }

  // The workbench: choose a message and what to do to it.
  function drawBench() {
    const all = plan.messages.flatMap((round, k) => round.map((message) => ({ message, round: k })));
    chosen = Math.min(chosen, all.length - 1);
    const list = damageList();
    const kind = h(
      "select",
      { id: "damage-kind", onchange: () => drawValue() },
      damageKinds.map(([key, words]) => h("option", { value: key }, words)),
    );
    const which = h("select", {
      id: "damage-message",
      size: Math.min(9, Math.max(3, all.length)),
      style: "width:100%;font-variant-numeric:tabular-nums",
      onchange: (event) => choose(Number(event.target.value)),
    });
    // Thousands of options would take longer than the proof: then only those of one round.
    const shownRound =
      all.length > mostListed ? Math.max(0, all.find((each) => each.message[3] === chosen)?.round ?? 0) : null;
    plan.messages.forEach((round, k) => {
      if (shownRound !== null && k !== shownRound) return;
      const group = h("optgroup", { label: `round ${k + 1}` });
      for (const message of round)
        group.append(
          h(
            "option",
            { value: message[3], selected: message[3] === chosen },
            `${message[0]} → ${message[1]}: ${plan.chunkWords(message)}${message[2] ? ", added" : ""}`,
          ),
        );
      which.append(group);
    });
    const rounds =
      shownRound === null
        ? null
        : choice(
            "Round",
            String(shownRound),
            plan.messages.map((_, k) => [String(k), `round ${k + 1}`]),
            (round) => {
              choose(plan.messages[Number(round)][0]?.[3] ?? 0);
              drawBench();
            },
            { id: "damage-round" },
          );
    const value = h("span", { id: "damage-value" });
    const drawValue = () => {
      const found = damageKinds.find(([key]) => key === kind.value);
      const count = found[3] === "rank" ? state.p : found[3] === "chunk" ? plan.chunks : 0;
      put(
        value,
        ...(count
          ? [
              choice(
                found[3] === "rank" ? "to rank" : "as chunk",
                "0",
                Array.from({ length: count }, (_, i) => [String(i), String(i)]),
                () => {},
                { id: "damage-target" },
              ),
            ]
          : []),
        h("p", { class: "note" }, `${found[2]}.`),
      );
    };
    put(
      bench,
      h("h2", {}, "Damage it"),
      h(
        "p",
        { class: "note" },
        "Choose a message, here or in the picture, and what goes wrong. The schedule is proved again at once.",
      ),
      rounds,
      all.length
        ? h("label", { class: "field" }, h("span", {}, "Message"), which)
        : h("p", {}, "This schedule has no messages."),
      h(
        "div",
        { class: "bar", style: "margin-top:10px" },
        h("label", { class: "field" }, h("span", {}, "Damage"), kind),
        value,
      ),
      h(
        "div",
        { class: "bar" },
        h(
          "button",
          {
            type: "button",
            class: "main",
            id: "damage-do",
            disabled: all.length === 0,
            onclick: () => {
              const target = bench.querySelector("#damage-target");
              update({
                damage: damageText([
                  ...damageList(),
                  { kind: kind.value, message: chosen, value: Number(target?.value ?? 0) },
                ]),
              });
            },
          },
          "Damage",
        ),
        h(
          "button",
          {
            type: "button",
            id: "damage-undo",
            disabled: list.length === 0,
            onclick: () => update({ damage: damageText(list.slice(0, -1)) }),
          },
          "Undo",
        ),
        h(
          "button",
          { type: "button", id: "damage-repair", disabled: list.length === 0, onclick: () => update({ damage: "" }) },
          "Repair all",
        ),
      ),
      list.length
        ? h(
            "div",
            { class: "tags" },
            list.map((each, i) =>
              h(
                "span",
                { class: "tag" },
                words(each, all),
                h(
                  "button",
                  {
                    type: "button",
                    "aria-label": "undo this damage",
                    onclick: () => update({ damage: damageText(list.filter((_, k) => k !== i)) }),
                  },
                  "×",
                ),
              ),
            ),
          )
        : null,
      plan.runs && film && !film.runs
        ? h(
            "p",
            { class: "note" },
            "The picture shows the plan: with this damage messages do not meet, so there is nothing to play.",
          )
        : null,
    );
    drawValue();
  }

  function words(each, all) {
    const found = all.find(({ message }) => message[3] === each.message)?.message;
    const kind = damageKinds.find(([key]) => key === each.kind);
    return `${found ? `${found[0]} → ${found[1]}` : each.message}: ${kind?.[1] ?? each.kind}${kind?.[3] ? ` ${each.value}` : ""}`;
  }

  function choose(message) {
    chosen = message;
    const which = bench.querySelector("#damage-message");
    if (which) which.value = String(message);
    const round = plan.messages.findIndex((each) => each.some((one) => one[3] === message));
    stage.picked = { message };
    if (round >= 0) player.go(round + 1);
    stage.setPicked({ message });
  }

  function drawTrial() {
    const button = h(
      "button",
      {
        type: "button",
        id: "trial-do",
        onclick: async () => {
          button.disabled = true;
          button.textContent = "Trying…";
          const answer = await askLast("mutants", { ...problem(), most: 150 }, "mutants");
          if (!answer) return;
          put(
            trial,
            h("h2", {}, "Every message, damaged in turn"),
            h(
              "table",
              { class: "figures", id: "mutants", style: "max-width:40em" },
              h(
                "thead",
                {},
                h(
                  "tr",
                  {},
                  ["damage", "schedules tried", "refused by the proof"].map((each) => h("th", { scope: "col" }, each)),
                ),
              ),
              h(
                "tbody",
                {},
                answer.rows.map((row) =>
                  h(
                    "tr",
                    {},
                    h("td", {}, damageKinds.find(([key]) => key === row.kind)[1]),
                    h("td", {}, row.tried),
                    h("td", {}, row.caught),
                  ),
                ),
              ),
            ),
            h(
              "p",
              { class: "note" },
              answer.rows.every((row) => row.caught === row.tried)
                ? "Every one is noticed: no message of this schedule is superfluous."
                : "What is not noticed does no harm: the schedule still fulfils its contract without that message, or with it twice.",
            ),
          );
        },
      },
      "Damage every message in turn",
    );
    put(
      trial,
      h("h2", {}, "Does the proof notice everything?"),
      h(
        "p",
        { class: "note" },
        `Drops, loses and repeats each of up to 150 messages of this schedule, one at a time, and counts what the proof refuses.`,
      ),
      button,
    );
  }

  async function load() {
    const damage = damageList();
    const [intact, answer, shown] = await Promise.all([
      askLater("play", problem(), "plan"),
      askLater("proof", { ...problem(), damage }, "proof"),
      damage.length ? askLater("play", { ...problem(), damage }, "damaged") : null,
    ]);
    if (!intact || !answer) return;
    plan = new Film(intact, null);
    film = shown ? new Film(shown, null) : plan;
    drawVerdict(answer);
    drawBench();
    stage.marks = new Set(
      answer.violations
        .filter((each) => each.chunk !== undefined && ["wrong output", "unwritten", "disagreement"].includes(each.kind))
        .map((each) => each.rank * plan.chunks + each.chunk),
    );
    const drawn = film.runs ? film : plan;
    stage.show(drawn, { layout: state.layout, mode: "symbols", maxHeight: Math.max(320, innerHeight - 330) });
    stage.element.setAttribute(
      "aria-label",
      `${drawn.algorithm}, ${drawn.ranks} ranks${damage.length ? ", damaged" : ""}. ${stage.marks.size ? `${stage.marks.size} boxes are wrong.` : ""}`,
    );
    player.load(drawn.rounds, damage.length && state.t === 0 ? drawn.rounds : state.t);
  }

  return {
    element,
    player,
    stage,
    async change(changed) {
      if (state.p > mostPlayed)
        throw new LibraryError({
          code: "unsupported",
          message: `The page proves schedules of up to ${mostPlayed} ranks; the command proves thousands: tutti verify ${algorithmName()} -p ${state.p}`,
        });
      if (["view", "c", "a", "p", "root", "shape", "damage", "layout"].some((key) => changed.has(key))) {
        if (["view", "c", "a", "p", "root", "shape"].some((key) => changed.has(key))) drawTrial();
        await load();
      }
    },
    repaint() {
      if (film)
        stage.show(film.runs ? film : plan, {
          layout: state.layout,
          mode: "symbols",
          maxHeight: Math.max(320, innerHeight - 330),
        });
    },
    key: (event) => player.key(event),
    close() {
      player.stop();
      stage.close();
    },
  };
}
