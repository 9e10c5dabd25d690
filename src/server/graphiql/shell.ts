import type { Assets, DocumentationPage } from './assets.ts';

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

/** The HTML of the page: `graphiql/page/index.html` with what depends on this server. No script is inline. */
export function shell({ assets, users, token, docs, introspection }: ShellContent): string {
  const paths = [...assets.graphiql.keys(), ...assets.page.keys()];
  const url = (name: string) => paths.find((path) => path.endsWith(`/${name}`)) ?? '';
  const config = {
    endpoint: '/graphql',
    graphiql: url('graphiql.js'),
    introspection,
    users,
    token,
  };
  const head = [
    `<link rel="stylesheet" href="${url('graphiql.css')}" />`,
    `<link rel="stylesheet" href="${url('page.css')}" />`,
    ...[...assets.page.keys()]
      .filter(isFirst)
      .map((path) => `<link rel="modulepreload" href="${path}" />`),
    ...[...assets.graphiql]
      .filter(([path]) => isFirst(path))
      .map(
        ([path, { br }]) => `<link rel="modulepreload" href="${path}" data-bytes="${br.length}" />`,
      ),
    `<script type="application/json" id="config">${inScript(config)}</script>`,
    `<script type="module" src="${url('main.js')}"></script>`,
  ];
  const schema = introspection ? [{ title: 'Schema', path: '/schema.graphql' }] : [];
  return assets.html
    .replaceAll(partNamed('real gateway'), users === null ? '$1' : '')
    .replace(partNamed('no introspection'), introspection ? '' : '$1')
    .replace('<!-- head -->', () => head.join('\n    '))
    .replace('<!-- users -->', () => (users ? userSwitch(users) : ''))
    .replace('<!-- links -->', () => [...schema, ...docs].map(link).join(''));
}

/** A part of the page that stands between comments with its name. */
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

/** A module that the page starts with; the others come when what they are for is opened. */
function isFirst(path: string): boolean {
  return /\/(?!later-)[\w-]+\.js$/.test(path);
}

function link({ title, path }: Pick<DocumentationPage, 'title' | 'path'>): string {
  return `<a href="${path}" target="_blank">${title}</a>`;
}

/** Escapes JSON inside a script element, so that it cannot close the element. */
function inScript(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}
