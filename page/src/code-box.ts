import { announce } from './announce.ts';
import { type App, ENDPOINT } from './app.ts';
import { find, h } from './dom.ts';
import { highlight } from './highlight.ts';
import { onClick } from './on-click.ts';
import { type Example, graphiqlLink, snippetsOf } from './snippets.ts';

const COPIED_MS = 1_500;

/** Shows an operation and its snippets in tabs, by the keyboard's rules for tabs: arrows, Home and End. */
export class CodeBox {
  readonly #session: App['session'];
  readonly #id: string;
  readonly #tabs: readonly HTMLButtonElement[];
  readonly #code = h('code');
  readonly #panel: HTMLElement;
  readonly #link = h('a', { class: 'open', target: '_blank', rel: 'noopener' }, 'Open in GraphiQL');
  #example: Example;
  #selected = 0;

  constructor(id: string, { session }: App, example: Example) {
    this.#id = id;
    this.#session = session;
    this.#example = example;
    const titles = snippetsOf(example, ENDPOINT, '').map(({ title }) => title);
    this.#tabs = titles.map((title, at) => this.#tab(title, at));
    const tabList = h(
      'div',
      { role: 'tablist', 'aria-label': 'The operation as code', class: 'tabs' },
      ...this.#tabs,
    );
    tabList.addEventListener('keydown', (event) => this.#move(event));
    const copy = h('button', { type: 'button', class: 'quiet' }, 'Copy');
    onClick(copy, async () => {
      const isCopied = await copyText(this.#text);
      copy.textContent = isCopied ? 'Copied' : 'Not allowed';
      announce(isCopied ? 'The code is copied.' : 'The browser does not allow copying.');
      setTimeout(() => {
        copy.textContent = 'Copy';
      }, COPIED_MS);
    });
    // It scrolls, so it has to be reached by the keyboard.
    this.#panel = h(
      'div',
      { role: 'tabpanel', id: `${id}-panel`, class: 'code-panel', tabindex: 0 },
      h('pre', {}, this.#code),
    );
    find(id, HTMLElement).append(
      h('div', { class: 'code-head' }, tabList, copy),
      this.#panel,
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

  get #text(): string {
    const token = this.#session.heldToken ?? '…';
    return snippetsOf(this.#example, ENDPOINT, token)[this.#selected]?.code ?? '';
  }

  #tab(title: string, at: number): HTMLButtonElement {
    const tab = h('button', { type: 'button', role: 'tab', id: `${this.#id}-tab-${at}` }, title);
    tab.setAttribute('aria-controls', `${this.#id}-panel`);
    tab.addEventListener('click', () => this.#select(at));
    return tab;
  }

  #select(at: number): void {
    this.#selected = at;
    this.#draw();
  }

  #move(event: KeyboardEvent): void {
    const last = this.#tabs.length - 1;
    const next = {
      ArrowRight: this.#selected === last ? 0 : this.#selected + 1,
      ArrowLeft: this.#selected === 0 ? last : this.#selected - 1,
      Home: 0,
      End: last,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.#select(next);
    this.#tabs[next]?.focus();
  }

  #draw(): void {
    for (const [at, tab] of this.#tabs.entries()) {
      tab.setAttribute('aria-selected', String(at === this.#selected));
      tab.tabIndex = at === this.#selected ? 0 : -1;
    }
    this.#panel.setAttribute('aria-labelledby', `${this.#id}-tab-${this.#selected}`);
    this.#code.replaceChildren(...highlight(this.#text));
    this.#link.href = graphiqlLink(this.#session.email, this.#example);
  }
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
