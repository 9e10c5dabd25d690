import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { type HttpExchange, type Site, wantsPage } from '../../engine/index.ts';
import { sendFile, sendPage } from '../../graphiql/server/pages.ts';

const SOURCES = join(import.meta.dirname, '..', '..');
const SCRIPT = join('bundle', 'page.js.br');
/** The page of the documentation to which this page links. */
const GUIDE = '/docs/clients.md';
const unpackBrotli = promisify(brotliDecompress);

type MayControl = (request: IncomingMessage) => boolean;

/** The demonstration page, with the files of the folder `src/page/`. */
export class DemoPage implements Site {
  /** Loaded at the first use, because most runs of the service serve no page. */
  #loaded: ReturnType<typeof loadPage> | null = null;
  readonly #folder: string;
  readonly #mayControl: MayControl;

  private constructor(folder: string, mayControl: MayControl) {
    this.#folder = folder;
    this.#mayControl = mayControl;
  }

  /**
   * Visitors who may not use the sandbox's controls get a page without these. Returns null in an installation without the
   * page, such as the container image.
   */
  static ifInstalled(mayControl: MayControl = () => false, folder = SOURCES): DemoPage | null {
    return existsSync(join(folder, 'page', SCRIPT)) ? new DemoPage(folder, mayControl) : null;
  }

  answer(exchange: HttpExchange, path: string): Promise<void> | null {
    if (path === '/' && wantsPage(exchange.request)) return this.#page(exchange);
    if (path === GUIDE && exchange.request.method === 'GET') return this.#guide(exchange);
    return path.startsWith('/demo/') ? this.#file(exchange, path) : null;
  }

  async #page(exchange: HttpExchange): Promise<void> {
    const { html, policy } = await this.#load();
    // With this attribute the page's style hides the controls.
    const remote = html.replace('<html', '<html data-remote');
    await sendPage(exchange, this.#mayControl(exchange.request) ? html : remote, policy);
  }

  async #guide(exchange: HttpExchange): Promise<void> {
    const text = await readFile(join(this.#folder, '..', GUIDE));
    exchange.headers['content-type'] = 'text/plain; charset=utf-8';
    await exchange.send(200, text);
  }

  async #file(exchange: HttpExchange, path: string): Promise<void> {
    const file = (await this.#load()).files.get(path);
    return file === undefined ? exchange.sendNotFound() : sendFile(exchange, file);
  }

  #load(): ReturnType<typeof loadPage> {
    this.#loaded ??= loadPage(this.#folder);
    return this.#loaded;
  }
}

/** Reads the page and its files. `npm run docs` has packed the page's code with all its imports. */
async function loadPage(folder: string) {
  const read = (name: string) => readFile(join(folder, 'page', name));
  const [template, style, br] = await Promise.all([
    read('index.html'),
    read('style.css'),
    read(SCRIPT),
  ]);
  const script = await unpackBrotli(br);
  const scriptUrl = `/demo/${hash('sha256', script, 'hex').slice(0, 16)}/page.js`;
  // A relative link, like all links of the page, so that the page works under any prefix.
  const head = `<style>${style}</style>\n    <script type="module" src="${scriptUrl.slice(1)}"></script>`;
  return {
    html: template.toString().replace('<!-- head -->', () => head),
    // The style is inline, because a file would arrive one round trip later.
    policy: { style: `'sha256-${hash('sha256', style, 'base64')}'` },
    files: new Map([[scriptUrl, { type: 'text/javascript; charset=utf-8', bytes: script, br }]]),
  };
}
