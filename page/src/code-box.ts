import { announce } from './announce.ts';
import { type App, ENDPOINT } from './app.ts';
import { find, h } from './dom.ts';
import { highlight } from './highlight.ts';
import { onClick } from './on-click.ts';
import { type Example, graphiqlLink, snippetsOf } from './snippets.ts';

const COPIED_MS = 1_500;

/** Copies the text, and says so for a moment. */
export function copyOnClick(button: HTMLButtonElement, text: () => string, onCopied = () => {}) {
  onClick(button, async () => {
    // A browser has no clipboard to write to without HTTPS.
    const copied = navigator.clipboard?.writeText(text()) ?? Promise.reject();
    button.textContent = await copied.then(() => 'Copied').catch(() => 'Not allowed');
    announce(button.textContent);
    onCopied();
    setTimeout(() => {
      button.textContent = 'Copy';
    }, COPIED_MS);
  });
}

/** Shows an operation, or one of its snippets. */
export class CodeBox {
  readonly #session: App['session'];
  readonly #choice = h('form', { class: 'tabs' });
  readonly #code = h('code');
  readonly #link = h('a', { class: 'open', target: '_blank', rel: 'noopener' }, 'Open in GraphiQL');
  #example: Example;

  /** `onCopied`: what was copied is somebody's now. */
  constructor(id: string, { session }: App, example: Example, onCopied = () => {}) {
    this.#session = session;
    this.#example = example;
    this.#choice.append(
      ...this.#snippets.map(({ title }, at) => {
        const radio = h('input', { type: 'radio', name: 'snippet', value: at, checked: at === 0 });
        return h('label', {}, radio, h('span', {}, title));
      }),
    );
    this.#choice.addEventListener('change', () => this.#draw());
    const copy = h('button', { type: 'button', class: 'quiet' }, 'Copy');
    copyOnClick(copy, () => this.#text, onCopied);
    find(id, HTMLElement).append(
      h('div', { class: 'code-head' }, this.#choice, copy),
      // It scrolls, so it has to be reached by the keyboard.
      h('pre', { class: 'code-panel', tabindex: 0 }, this.#code),
      h('div', { class: 'code-foot' }, this.#link),
    );
    // The snippets hold the token, which is there after the first request.
    session.onChange(() => this.#draw());
    this.#draw();
  }

  show(example: Example): void {
    this.#example = example;
    this.#draw();
  }

  get #snippets() {
    return snippetsOf(this.#example, ENDPOINT, this.#session.heldToken ?? '…');
  }

  get #text(): string {
    const chosen = Number(new FormData(this.#choice).get('snippet'));
    return this.#snippets[chosen]?.code ?? '';
  }

  #draw(): void {
    this.#code.replaceChildren(...highlight(this.#text));
    this.#link.href = graphiqlLink(this.#session.email, this.#example);
  }
}
