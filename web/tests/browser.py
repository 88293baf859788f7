"""Drives headless Chromium over the pipe of its DevTools protocol, with the standard library only."""

import base64
import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time

SECONDS = 60


def find_chromium():
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        if path := shutil.which(name):
            return path
    return None


class ProtocolError(Exception):
    pass


class Browser:
    """One Chromium with one page."""

    def __init__(self, width=1400, height=900, scale=1):
        self.home = tempfile.mkdtemp(prefix="tutti-explorer-")
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()

        def place_pipes():
            # Chromium reads commands from descriptor 3 and writes answers to 4. The copies are made first,
            # because either number may be in use by the other end.
            read, write = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [find_chromium(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--remote-debugging-pipe", "--no-first-run", "--hide-scrollbars", "--disable-extensions",
             "--force-color-profile=srgb", f"--user-data-dir={self.home}", f"--window-size={width},{height}",
             "about:blank"],
            close_fds=False, preexec_fn=place_pipes,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.out = os.fdopen(ours_out, "wb", buffering=0)
        self.inn = os.fdopen(ours_in, "rb")
        self.next = 0
        self.answers = {}
        self.arrived = threading.Condition()
        self.events = queue.Queue()
        self.console = []
        threading.Thread(target=self.listen, daemon=True).start()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height, scale)

    def listen(self):
        rest = b""
        while chunk := self.inn.read1(1 << 20):
            *whole, rest = (rest + chunk).split(b"\0")
            for text in whole:
                message = json.loads(text)
                if "id" in message:
                    with self.arrived:
                        self.answers[message["id"]] = message
                        self.arrived.notify_all()
                else:
                    self.note(message)

    def note(self, event):
        """Keeps what the page complains about."""
        method, params = event["method"], event.get("params", {})
        if method == "Runtime.exceptionThrown":
            detail = params["exceptionDetails"]
            self.console.append(detail.get("exception", {}).get("description", detail["text"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.console.append(" ".join(str(each.get("value", each.get("description"))) for each in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.console.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent" and params["request"]["url"].startswith("http"):
            self.console.append("asked the network for " + params["request"]["url"])

    def call(self, method, **params):
        self.next += 1
        message = {"id": self.next, "method": method, "params": params}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        self.out.write(json.dumps(message).encode() + b"\0")
        end = time.monotonic() + SECONDS
        with self.arrived:
            while message["id"] not in self.answers:
                if not self.arrived.wait(end - time.monotonic()) or time.monotonic() > end:
                    raise ProtocolError(f"{method} was not answered")
            answer = self.answers.pop(message["id"])
        if "error" in answer:
            raise ProtocolError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def resize(self, width, height, scale=1, phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                  mobile=phone)

    def dark(self, on):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def still(self, on=True):
        """As for readers who asked for less motion."""
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-reduced-motion", "value": "reduce" if on else "no-preference"}])

    def open(self, address):
        self.call("Page.navigate", url=address)

    def eval(self, script):
        """The value of an expression, or of the promise that it gives."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            detail = result["exceptionDetails"]
            raise ProtocolError(detail.get("exception", {}).get("description", detail["text"]))
        return result["result"].get("value")

    def until(self, condition, seconds=20):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if self.eval(f"Boolean({condition})"):
                    return
            except ProtocolError:
                pass  # The page is being replaced.
            time.sleep(0.03)
        raise ProtocolError(f"never became true: {condition}")

    def key(self, key, text=None):
        names = {" ": "Space"}
        params = {"key": key, "code": names.get(key, key)}
        if text or len(key) == 1:
            params["text"] = text or key
        self.call("Input.dispatchKeyEvent", type="keyDown", **params)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=params["code"])

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, start, end):
        self.mouse("mouseMoved", *start)
        self.mouse("mousePressed", *start, button="left", buttons=1, clickCount=1)
        for part in (0.25, 0.5, 0.75, 1):
            self.mouse("mouseMoved", start[0] + part * (end[0] - start[0]), start[1] + part * (end[1] - start[1]),
                       button="left", buttons=1)
        self.mouse("mouseReleased", *end, button="left", buttons=0, clickCount=1)

    def screenshot(self, path, whole=False):
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
            data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
        else:
            data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (ProtocolError, OSError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)
