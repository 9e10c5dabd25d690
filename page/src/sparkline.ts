const SVG = 'http://www.w3.org/2000/svg';
const WIDTH = 96;
const HEIGHT = 24;
const POINTS = 40;
/** A line of fewer values is as wide as if it had so many. */
const MIN_POINTS = 12;

/** A small line of the last values of one figure. The figure stands beside it as a number, so it is not read out. */
export class Sparkline {
  readonly element: SVGSVGElement;
  readonly #line: SVGPolylineElement;
  readonly #zero: SVGLineElement;
  #values: readonly number[] = [];

  constructor() {
    this.element = document.createElementNS(SVG, 'svg');
    this.element.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`);
    this.element.setAttribute('preserveAspectRatio', 'none');
    this.element.setAttribute('class', 'sparkline');
    this.element.setAttribute('aria-hidden', 'true');
    this.#zero = document.createElementNS(SVG, 'line');
    this.#zero.setAttribute('class', 'zero');
    this.#line = document.createElementNS(SVG, 'polyline');
    this.element.append(this.#zero, this.#line);
  }

  add(value: number): void {
    this.#values = [...this.#values, value].slice(-POINTS);
    const low = Math.min(...this.#values);
    const high = Math.max(...this.#values);
    const y = (each: number) =>
      high === low ? HEIGHT / 2 : 2 + ((high - each) / (high - low)) * (HEIGHT - 4);
    const step = WIDTH / (Math.max(MIN_POINTS, this.#values.length) - 1);
    const points = this.#values.map(
      (each, at) => `${(at * step).toFixed(1)},${y(each).toFixed(1)}`,
    );
    this.#line.setAttribute('points', points.join(' '));
    this.#line.setAttribute('class', value < 0 ? 'loss' : 'profit');
    const isCrossed = low < 0 && high > 0;
    for (const [name, at] of [
      ['x1', 0],
      ['x2', WIDTH],
      ['y1', y(0)],
      ['y2', y(0)],
    ] as const) {
      this.#zero.setAttribute(name, isCrossed ? at.toFixed(1) : '0');
    }
  }
}
