import type { Assets, DocumentationPage } from './assets.ts';
import { CONFIRMED_FIELDS, EXAMPLES } from './examples.ts';

/** An account of the sandbox to sign in with. */
export interface SandboxUser {
  readonly email: string;
  readonly about: string;
}

interface ShellContent {
  readonly assets: Assets;
  /** Null without the sandbox: then one signs in with an account of one's own, or pastes a token. */
  readonly users: readonly SandboxUser[] | null;
  /** Of the first user; null where the sign-in failed. */
  readonly token: string | null;
  readonly docs: readonly DocumentationPage[];
  readonly introspection: boolean;
}

/**
 * Everything comes from this server, and no script is inline. Styles have to be: GraphiQL sizes its
 * panes by attributes.
 */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The HTML of the page: our own bars, and the element that GraphiQL fills. */
export function shell({ assets, users, token, docs, introspection }: ShellContent): string {
  const paths = [...assets.graphiql.keys(), ...assets.page.keys()];
  const url = (name: string) => paths.find((path) => path.endsWith(`/${name}`)) ?? '';
  const own = [...assets.page.keys()].filter((path) => isFirst(path));
  const graphiql = [...assets.graphiql].filter(([path]) => isFirst(path));
  const config = {
    endpoint: '/graphql',
    graphiql: url('graphiql.js'),
    examples: users === null ? EXAMPLES.filter(({ isForSandbox }) => !isForSandbox) : EXAMPLES,
    // The sandbox's money is pretended.
    confirmedFields: users === null ? CONFIRMED_FIELDS : [],
    introspection,
    users,
    token,
  };
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Trading Graph</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="${url('graphiql.css')}" />
    <link rel="stylesheet" href="${url('page.css')}" />
    ${own.map((path) => `<link rel="modulepreload" href="${path}" />`).join('\n    ')}
    ${graphiql.map(([path, { br }]) => `<link rel="modulepreload" href="${path}" data-bytes="${br.length}" />`).join('\n    ')}
    <script type="application/json" id="config">${inScript(config)}</script>
    <script type="module" src="${url('main.js')}"></script>
  </head>
  <body class="no-focus-outline">
    <noscript>GraphiQL needs JavaScript.</noscript>
    <header class="bar">
      <h1>Trading Graph</h1>
      <div class="bar-items">${users ? userSwitch(users) : SIGN_IN}
        <details class="menu" id="docs">
          <summary>Docs</summary>
          <nav aria-label="Documentation">
            ${introspection ? '<a href="/schema.graphql" target="_blank">Schema</a>' : ''}${docs.map(docLink).join('')}
          </nav>
        </details>
      </div>
    </header>
    ${introspection ? '' : NO_INTROSPECTION}
    <main id="root" aria-label="GraphiQL">
      <div class="loading">
        <p id="loading-state" role="status">The editor is on its way …</p>
        <progress id="loading" aria-label="Loaded" value="0" max="1"></progress>
      </div>
    </main>
    <section class="answer" aria-label="Last answer">
      <div id="answer-details" role="region" aria-label="Details of the answer" tabindex="0" hidden></div>
      <div id="answer-tables" role="region" aria-label="Lists of the answer as tables" tabindex="0" hidden></div>
      <div class="answer-line">
        <p id="answer-summary">Run an operation: its status, time, size and gateway calls appear here.</p>
        <span class="buttons">
          <button type="button" id="tables-toggle" aria-expanded="false" aria-controls="answer-tables" disabled>Table</button>
          <button type="button" id="answer-toggle" aria-expanded="false" aria-controls="answer-details" disabled>Details</button>
        </span>
      </div>
      <p class="unseen" role="status" id="announcement"></p>
    </section>
${users ? '' : CONFIRMATION}
  </body>
</html>
`;
}

const NO_INTROSPECTION = `<p class="notice">Introspection is off here, so there is no completion and no documentation. Operations work.
      Whoever runs the service turns it on by <code>INTROSPECTION=on</code>.</p>`;

/** The token is kept in memory alone: a reload signs out. */
const SIGN_IN = `
        <details class="menu" id="account">
          <summary id="account-state">Sign in</summary>
          <div class="panel">
            <form id="sign-in">
              <label>Email <input name="email" type="email" autocomplete="username" required /></label>
              <label>Password <input name="password" type="password" autocomplete="current-password" required /></label>
              <button>Sign in</button>
            </form>
            <form id="own-token">
              <label>Or a token <input name="token" type="password" autocomplete="off" spellcheck="false" required /></label>
              <button>Use it</button>
            </form>
            <p id="account-message" role="status"></p>
            <button type="button" id="sign-out" hidden>Sign out</button>
          </div>
        </details>`;

const CONFIRMATION = `    <dialog id="confirmation" aria-labelledby="confirmation-question">
      <form method="dialog">
        <h2 id="confirmation-question"></h2>
        <p>This is sent to the real gateway.</p>
        <button value="" autofocus>Do not send</button>
        <button value="send">Send it</button>
      </form>
    </dialog>`;

function userSwitch(users: readonly SandboxUser[]): string {
  const options = users.map(
    ({ email, about }) => `<option value="${email}">${email.split('@')[0]}: ${about}</option>`,
  );
  return `
        <label>User
          <select id="user" autocomplete="off">${options.join('')}<option value="">nobody: no token</option></select>
        </label>`;
}

/** A module that the page starts with; the others come when what they are for is opened. */
function isFirst(path: string): boolean {
  return /\/(?!later-)[\w-]+\.js$/.test(path);
}

function docLink({ title, path }: DocumentationPage): string {
  return `<a href="${path}" target="_blank">${title}</a>`;
}

/** Escapes JSON inside a script element, so that it cannot close the element. */
function inScript(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}
