"""False alarms beside power, rule by rule, as a small SVG."""

from __future__ import annotations

from xml.sax.saxutils import escape

LABELS = {
    "faithbot": "faithbot",
    "any worse": "any question got worse",
    "drop > 0.05": "mean fell by more than 0.05",
    "> run to run": "fell by more than runs differ",
    "bootstrap": "paired bootstrap of questions",
}
LEFT, PANEL, GAP, TOP, ROW = 210, 230, 40, 64, 28
RED, GREEN, GREY = "#c0392b", "#1e8449", "#666666"

Rates = dict[int, tuple[list[float], list[float]]]


def draw_plot(rules: list[str], rates: Rates) -> str:
    """``rates``: by number of questions, the false alarms and the power of each rule in percent."""
    height = TOP + ROW * len(rules) + 34
    width = LEFT + 2 * PANEL + GAP + 30
    second = LEFT + PANEL + GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        *panel(LEFT, "nothing changed, and called worse", len(rules), RED),
        *panel(second, "a real loss, and called worse", len(rules), GREEN),
    ]
    limit = LEFT + 0.05 * PANEL
    parts.append(f'<path d="M{limit:.1f} {TOP - 8}v{ROW * len(rules) + 4}" stroke="{RED}" stroke-dasharray="3 3"/>')
    for row, rule in enumerate(rules):
        y = TOP + ROW * row + ROW // 2 - 6
        parts.append(text(LEFT - 12, y + 4, LABELS.get(rule, rule), "end", weight="bold" if row == 0 else "normal"))
        for start, kind, colour in ((LEFT, 0, RED), (second, 1, GREEN)):
            percents = {questions: both[kind][row] for questions, both in rates.items()}
            parts += dots(start, y, percents, colour)
    legend = f"○ {min(rates)} questions   ● {max(rates)} questions, two runs a side; the dashes mark 5 %"
    parts.append(text(LEFT, height - 8, legend, "start"))
    return "\n".join([*parts, "</svg>"]) + "\n"


def panel(start: int, title: str, rows: int, colour: str) -> list[str]:
    bottom = TOP + ROW * rows - 6
    parts = [text(start, 20, title, "start", colour, "bold")]
    for percent in (0, 50, 100):
        x = start + percent / 100 * PANEL
        parts.append(text(x, 42, f"{percent} %", "middle"))
        parts.append(f'<path d="M{x:.1f} {TOP - 14}V{bottom}" stroke="#dddddd"/>')
    return parts


def dots(start: int, y: int, percents: dict[int, float], colour: str) -> list[str]:
    """A hollow dot for the fewest questions, a full one for the most, and a line between."""
    few, many = (start + percents[questions] / 100 * PANEL for questions in (min(percents), max(percents)))
    return [
        f'<path d="M{few:.1f} {y}H{many:.1f}" stroke="{colour}"/>',
        f'<circle cx="{few:.1f}" cy="{y}" r="5" fill="white" stroke="{colour}" stroke-width="1.5"/>',
        f'<circle cx="{many:.1f}" cy="{y}" r="5" fill="{colour}"/>',
    ]


def text(x: float, y: int, words: str, anchor: str, colour: str = GREY, weight: str = "normal") -> str:
    style = f'text-anchor="{anchor}" fill="{colour}" font-weight="{weight}"'
    return f'<text x="{x:.0f}" y="{y}" {style}>{escape(words)}</text>'
