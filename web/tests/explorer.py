"""The explorer's page under test."""

import json
import subprocess
import time


class Failed(Exception):
    pass


def expect(what, true):
    if not true:
        raise Failed(what)


class Explorer:
    """The page under test."""

    def __init__(self, browser, tutti, page):
        self.browser = browser
        self.tutti = tutti
        self.page = page

    def command(self, *words):
        return json.loads(subprocess.run([self.tutti, *words], check=True, capture_output=True, text=True).stdout)

    def go(self, fragment, wait=True):
        """Opens a state as a reader does who follows a link."""
        self.browser.open("about:blank")
        self.browser.open(f"file://{self.page}#{fragment}")
        if wait:
            self.browser.until("document.body && document.body.dataset.shown >= 1 && !document.querySelector('.loading')")

    def settle(self):
        """Waits until all that was asked for is shown: no question is open, and two frames later nothing is new."""
        before = None
        for _ in range(400):
            now = self.browser.eval("""new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(
                [Number(document.body.dataset.questions ?? 0), document.body.dataset.shown,
                 document.getElementById('view').innerHTML.length].join('/')))))""")
            if now.startswith("0/") and now == before:
                return
            before = now
            time.sleep(0.03)
        raise Failed("the page does not come to rest")

    def state(self):
        time.sleep(0.2)  # The address is written a moment later.
        text = self.browser.eval("location.hash.slice(1)")
        return dict(part.split("=", 1) for part in text.split("&") if "=" in part)

    def text(self, selector):
        return self.browser.eval(f"document.querySelector({json.dumps(selector)})?.textContent ?? null")

    def has(self, selector):
        return self.browser.eval(f"document.querySelector({json.dumps(selector)}) !== null")

    def click(self, selector):
        if not self.browser.eval(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e || e.disabled) return false; e.click(); return true; }})()"):
            raise Failed(f"nothing to click at {selector}")
        self.settle()

    def choose(self, selector, value):
        if not self.browser.eval(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return false; e.value = {json.dumps(value)}; e.dispatchEvent(new Event('input', {{bubbles: true}})); e.dispatchEvent(new Event('change', {{bubbles: true}})); return true; }})()"):
            raise Failed(f"nothing to set at {selector}")
        self.settle()

    def ask(self, question, arguments):
        return self.browser.eval(f"window.tuttiAsk({json.dumps(question)}, {json.dumps(arguments)})")

    def round(self):
        return self.text(".player .round")


def same(one, other):
    """Equal; times up to the last bits, since compilers may fuse a multiplication and an addition."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) or isinstance(other, float):
        return abs(one - other) <= 1e-12 * abs(other)
    return one == other
