"""What the browser tests of the explorer do on its page."""

from __future__ import annotations

import byteloom as bl


def texts(page, css):
    """What the elements show, in one question to the browser."""
    return page.js("return Array.from(document.querySelectorAll(arguments[0]), (e) => e.innerText)", css)


def chips(page, css):
    """The chips below an element, without the small line."""
    return texts(page, f"{css} .chip > bdi")


def visible(tok, ids):
    return [bl.render.visible(tok.id_to_bytes(id_)) for id_ in ids]


def slide(page, css, value):
    page.js(
        "const s = document.querySelector(arguments[0]); s.value = arguments[1];"
        "s.dispatchEvent(new Event('input', { bubbles: true }))",
        css,
        value,
    )


def change(page, css, value):
    page.js(
        "const s = document.querySelector(arguments[0]); s.value = arguments[1];"
        "s.dispatchEvent(new Event('change', { bubbles: true }))",
        css,
        value,
    )
    page.ready()


def step_to(page, step):
    slide(page, ".stepper input", step)


def figure(page, name):
    return page.text(f'#picture [data-figure="{name}"]')


def controls(page):
    """How many solid blocks the conversation's stream shows."""
    return len(page.all("[data-stream] .chip.special"))


def patches(page):
    """The patches as the page draws them."""
    return page.js(
        "return [...document.querySelectorAll('.strip.bytes .patch')].map("
        "(patch) => [...patch.querySelectorAll('.byte')].map((byte) => byte.textContent).join(''))"
    )
