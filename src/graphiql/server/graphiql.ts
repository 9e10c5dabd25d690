import { type HttpExchange, type Site, wantsPage } from '../../engine/index.ts';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import { type Assets, loadAssets } from './assets.ts';
import { sendFile, sendPage } from './pages.ts';
import { withPrefix } from './with-prefix.ts';

/** An account of the sandbox to sign in with. */
interface SandboxUser {
  readonly email: string;
  readonly about: string;
}

export interface GraphiQLOptions {
  /**
   * The sandbox's users. The page starts with a token of the first one, so that the first query works. Null if there is no
   * sandbox: then visitors sign in themselves, or paste a token.
   */
  readonly sandbox: {
    readonly users: readonly SandboxUser[];
    token(user: SandboxUser): string;
  } | null;
  /** Whether a cookie may hold a visitor's token. Then the page sends no cookies: it must not act for a user unseen. */
  readonly hasAuthCookie: boolean;
  /** Whether the demonstration page is at `/`. */
  readonly hasPage: boolean;
  /** The path prefix of all addresses; '' for none. */
  readonly publicPath: string;
}

/** GraphiQL with every asset served from this process, so that it works offline. */
export class GraphiQL implements Site {
  readonly #options: GraphiQLOptions;
  /** Loaded at the first use, because most servers never need them. */
  #assets: Promise<Assets> | null = null;

  constructor(options: GraphiQLOptions) {
    this.#options = options;
  }

  answer(exchange: HttpExchange, path: string): MaybePromise<void> | null {
    if (path.startsWith('/graphiql/')) return this.#file(exchange, path);
    if (!wantsPage(exchange.request)) return null;
    if (path === '/graphql') return this.#page(exchange);
    // If there is a demonstration page, it has answered `/` already.
    if (path !== '/') return null;
    exchange.headers.location = `${this.#options.publicPath}/graphql`;
    return exchange.sendNothing(302);
  }

  async #page(exchange: HttpExchange): Promise<void> {
    const { sandbox } = this.#options;
    const assets = await this.#load();
    const [firstUser] = sandbox?.users ?? [];
    const token = (firstUser && sandbox?.token(firstUser)) ?? null;
    // The page may contain a token of the demo user.
    exchange.headers['cache-control'] = 'no-store';
    await sendPage(exchange, shell(this.#options, assets, token), {
      // GraphiQL sizes its panes by `style` attributes.
      style: "'self' 'unsafe-inline'",
      images: "'self' data:",
    });
  }

  async #file(exchange: HttpExchange, path: string): Promise<void> {
    const file = (await this.#load()).files.get(path);
    return file === undefined ? exchange.sendNotFound() : sendFile(exchange, file);
  }

  #load(): Promise<Assets> {
    this.#assets ??= loadAssets();
    return this.#assets;
  }
}

/** The HTML of the page: `graphiql/page/index.html` with the parts that depend on this server. No script is inline. */
function shell(
  { sandbox, hasAuthCookie, hasPage, publicPath }: GraphiQLOptions,
  assets: Assets,
  /** The token of the first user; null if there is no sandbox. */
  token: string | null,
): string {
  const users = sandbox?.users ?? null;
  const url = (name: string) =>
    [...assets.files.keys()].find((path) => path.endsWith(`/${name}`)) ?? '';
  const config = {
    endpoint: `${publicPath}/graphql`,
    credentials: hasAuthCookie ? 'omit' : 'same-origin',
    users,
    token,
  };
  const head = [
    `<link rel="stylesheet" href="${url('graphiql.css')}" />`,
    ...[...assets.files.keys()]
      .filter((path) => path.endsWith('.js'))
      .map((path) => `<link rel="modulepreload" href="${path}" />`),
    `<script type="application/json" id="config">${inScript(config)}</script>`,
    `<script type="module" src="${url('main.js')}"></script>`,
  ];
  // `$1` keeps a part, the empty text removes it.
  const html = assets.html
    .replaceAll(partNamed('real gateway'), users === null ? '$1' : '')
    .replaceAll(partNamed('page'), hasPage ? '$1' : '')
    .replace('<!-- head -->', () => head.join('\n    '))
    .replace('<!-- users -->', () => (users ? userSwitch(users) : ''));
  return withPrefix(html, publicPath);
}

/** Matches a part of the page: the text between the comments with the part's name. */
function partNamed(name: string): RegExp {
  return new RegExp(`<!-- ${name} -->([^]*?)<!-- /${name} -->`, 'g');
}

function userSwitch(users: readonly SandboxUser[]): string {
  const options = users.map(
    ({ email, about }) => `<option value="${email}">${email.split('@')[0]}: ${about}</option>`,
  );
  return `<label>User
          <select id="user" autocomplete="off">${options.join('')}<option value="">nobody: no token</option></select>
        </label>`;
}

/** Escapes JSON inside a script element, so that it cannot close the element. */
function inScript(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}
