import { h, sign } from "./dom.js";

// The buttons and the slider of a film. Time is in rounds: 2.4 is in the third round.

const speeds = [0.25, 0.5, 1, 2, 4];
const secondsPerRound = 1.6;

export class Player {
  // `draw` is called with the time, `settle` when it rests at a whole round.
  constructor({ draw, settle }) {
    Object.assign(this, { drawAt: draw, settle, time: 0, rounds: 0, playing: false, speed: 1 });
    const button = (id, label, icon, onclick) =>
      h("button", { type: "button", id, class: "icon", title: label, "aria-label": label, onclick }, sign(icon));
    this.playButton = button("play", "Play (space)", "play", () => this.toggle());
    this.slider = h("input", {
      type: "range",
      id: "scrub",
      min: 0,
      max: 1,
      step: "any",
      value: 0,
      "aria-label": "Round",
      oninput: () => this.scrub(),
    });
    this.slider.addEventListener("change", () => this.rest(Math.round(this.time)));
    this.slider.addEventListener("keydown", (event) => this.key(event) && event.stopPropagation());
    this.label = h("output", { class: "round", for: "scrub" }, "start");
    this.speedChoice = h(
      "select",
      {
        id: "speed",
        "aria-label": "Speed",
        title: "Speed",
        onchange: (event) => (this.speed = Number(event.target.value)),
      },
      speeds.map((each) => h("option", { value: each, selected: each === 1 }, `${each}×`)),
    );
    this.element = h(
      "div",
      { class: "player", role: "group", "aria-label": "Player" },
      button("first", "To the start (Home)", "first", () => this.go(0)),
      button("back", "One round back (←)", "back", () => this.step(-1)),
      this.playButton,
      button("next", "One round on (→)", "next", () => this.step(1)),
      button("last", "To the end (End)", "last", () => this.go(this.rounds)),
      this.slider,
      this.label,
      this.speedChoice,
    );
    this.ticks = 0;
  }

  load(rounds, time) {
    this.stop();
    this.rounds = rounds;
    this.slider.max = Math.max(rounds, 1);
    this.element.querySelectorAll("button, #scrub").forEach((each) => (each.disabled = rounds === 0));
    this.move(Math.min(time, rounds));
  }

  move(time) {
    this.time = Math.min(Math.max(time, 0), this.rounds);
    this.slider.value = this.time;
    const round = Math.ceil(this.time - 1e-9);
    this.label.textContent = round === 0 ? "start" : `${round} / ${this.rounds}`;
    this.slider.setAttribute("aria-valuetext", round === 0 ? "start" : `round ${round} of ${this.rounds}`);
    this.drawAt(this.time);
  }

  rest(time) {
    this.move(time);
    this.settle(this.time);
  }

  scrub() {
    this.stop();
    this.move(Number(this.slider.value));
  }

  go(round) {
    this.stop();
    this.rest(round);
  }

  // Plays one round on, or shows the state before.
  step(by) {
    if (by < 0) {
      this.go(Math.ceil(this.time - 1e-9) - 1);
      return;
    }
    const target = Math.min(this.rounds, Math.floor(this.time + 1e-9) + 1);
    this.stop();
    this.run(target);
  }

  toggle() {
    if (this.playing) {
      this.stop();
      this.rest(Math.round(this.time));
      return;
    }
    if (this.time >= this.rounds) this.move(0);
    this.run(this.rounds);
  }

  run(target) {
    if (target <= this.time) return;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.rest(target);
      return;
    }
    this.playing = true;
    this.playButton.replaceChildren(sign("pause"));
    this.playButton.setAttribute("aria-label", "Pause (space)");
    let before = performance.now();
    const tick = (now) => {
      if (!this.playing) return;
      const step = (Math.min(100, Math.max(0, now - before)) / 1000 / secondsPerRound) * this.speed;
      before = now;
      ++this.ticks;
      const next = this.time + step;
      if (next >= target - 1e-6) {
        this.stop();
        this.rest(target);
        return;
      }
      this.move(next);
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  stop() {
    this.playing = false;
    this.playButton.replaceChildren(sign("play"));
    this.playButton.setAttribute("aria-label", "Play (space)");
  }

  // True if the key was one of the player's.
  key(event) {
    const act = {
      " ": () => this.toggle(),
      ArrowRight: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      Home: () => this.go(0),
      End: () => this.go(this.rounds),
    }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return false;
    event.preventDefault();
    act();
    return true;
  }
}
