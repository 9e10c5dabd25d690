import { type HttpExchange, type Site, wantsPage } from '../../engine/index.ts';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import { sendPage } from './pages.ts';
import { withPrefix } from './with-prefix.ts';

interface FrontPageOptions {
  readonly hasGraphiql: boolean;
  readonly publicPath: string;
}

/** An address of the server; the path is null if a setting hides it. */
type Line = readonly [name: string, path: string | null, words: string];

/** The width of the names' column in the text. */
const NAME_WIDTH = 9;

/** The page at `/`. It describes this server, and names the setting that enables the other pages. */
export class FrontPage implements Site {
  readonly #publicPath: string;
  readonly #lines: readonly Line[];

  constructor({ hasGraphiql, publicPath }: FrontPageOptions) {
    const hidden = 'is shown if GRAPHIQL=on';
    this.#publicPath = publicPath;
    this.#lines = [
      ['GraphQL', '/graphql', 'by POST, as JSON: {"query": "{ __typename }"}'],
      ['GraphiQL', hasGraphiql ? '/graphql' : null, hasGraphiql ? 'in a browser' : hidden],
      ['Schema', hasGraphiql ? '/schema.graphql' : null, hasGraphiql ? 'as text' : hidden],
    ];
  }

  answer(exchange: HttpExchange, path: string): MaybePromise<void> | null {
    if (path !== '/') return null;
    return wantsPage(exchange.request) ? this.#page(exchange) : this.#text(exchange);
  }

  /** The page as plain text, for a request from a terminal. */
  #text(exchange: HttpExchange): MaybePromise<void> {
    const prefix = this.#publicPath;
    const lines = this.#lines.map(([name, path, words]) => {
      const address = path === null ? '' : `${prefix}${path}, `;
      return `${name.padEnd(NAME_WIDTH)} ${address}${words}`;
    });
    exchange.headers['content-type'] = 'text/plain; charset=utf-8';
    return exchange.send(200, `${lines.join('\n')}\n`);
  }

  #page(exchange: HttpExchange): MaybePromise<void> {
    const lines = this.#lines.map(([name, path, words]) => {
      const shown = path === null ? name : `<a href="${path}">${name}</a>`;
      return `<li>${shown}: ${words.replaceAll('"', '&quot;')}</li>`;
    });
    const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
<title>Trading Graph</title>
<link rel="icon" href="data:," />
<main>
<h1>Trading Graph</h1>
<p>A GraphQL endpoint in front of a REST trading gateway.</p>
<ul>${lines.join('\n')}</ul>
</main>
</html>
`;
    return sendPage(exchange, withPrefix(html, this.#publicPath), {});
  }
}
