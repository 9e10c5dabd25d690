import { setImmediate } from 'node:timers/promises';
import type { Token, Tokens } from 'marked';

export interface Heading {
  readonly depth: number;
  readonly id: string;
  /** Plain text. */
  readonly title: string;
}

export interface Rendered {
  readonly title: string;
  readonly html: string;
  readonly headings: readonly Heading[];
  /** The plain text below each heading. */
  readonly parts: readonly { readonly heading: Heading; readonly text: string }[];
}

/** Where a link of a page leads in the site, and the title of a page there; null: nowhere, and it is shown as text. */
export type Link = (href: string) => { readonly href: string; readonly title?: string } | null;

// Words of a link that are the file's name are for those who read the file.
const FILE_NAME = /^[\w./-]+(?:\.md|\/)$/;

// A code of errors is linked as it is written: /docs/errors#RATE_LIMITED.
const CODE = /^[A-Z]+(?:_[A-Z]+)*$/;

const TURN_MS = 5;

/** Renders a page of the project, in turns with whatever else the process does. Its own HTML, which is comments, is left out. */
export async function renderMarkdown(text: string, linkOf: Link): Promise<Rendered> {
  const [{ Marked }, { highlighted }] = await Promise.all([
    import('marked'),
    import('./highlighted.ts'),
  ]);
  const headings: Heading[] = [];
  const parts: { heading: Heading; text: string }[] = [];
  const anchors = createAnchors();
  const marked = new Marked({
    renderer: {
      html: () => '',
      image: ({ text: alt }) => escapeHtml(alt),
      heading({ depth, tokens, text: raw }) {
        const title = raw.replaceAll('`', '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
        const id = anchors(title);
        const heading = { depth, id, title };
        headings.push(heading);
        const also = CODE.test(title) ? `<span id="${title}"></span>` : '';
        const link =
          depth === 1
            ? ''
            : ` <a class="anchor" href="#${id}" aria-label="Link to ${escapeHtml(title)}">#</a>`;
        return `<h${depth} id="${id}">${also}${this.parser.parseInline(tokens)}${link}</h${depth}>\n`;
      },
      link({ href, text: words, tokens }) {
        const target = linkOf(href);
        const isName = target?.title !== undefined && FILE_NAME.test(words);
        const inner = isName ? escapeHtml(target.title) : this.parser.parseInline(tokens);
        return target === null ? inner : `<a href="${escapeHtml(target.href)}">${inner}</a>`;
      },
      code: ({ text: code, lang }) =>
        `<pre tabindex="0"><code>${highlighted(code, lang) ?? escapeHtml(code)}</code></pre>\n`,
      table(token) {
        return `<div class="table" tabindex="0" role="group" aria-label="Table">${tableOf(token, (tokens) => this.parser.parseInline(tokens))}</div>\n`;
      },
    },
  });
  await setImmediate();
  let beganAtMs = performance.now();
  let html = '';
  let at = -1;
  for (const token of marked.lexer(text)) {
    if (performance.now() - beganAtMs > TURN_MS) {
      await setImmediate();
      beganAtMs = performance.now();
    }
    html += marked.parser([token]);
    if (token.type === 'heading') {
      at += 1;
      const heading = headings[at];
      if (heading) parts.push({ heading, text: '' });
    }
    const part = parts.at(-1);
    if (part && token.type !== 'heading') part.text += ` ${plain(token)}`;
  }
  return { title: headings[0]?.title ?? '', html, headings, parts };
}

function tableOf({ header, rows }: Tokens.Table, inline: (tokens: Token[]) => string): string {
  const cell = (text: string, tag: 'th' | 'td') => `<${tag}>${text}</${tag}>`;
  // A header without words is none.
  const row = (cells: readonly Tokens.TableCell[], tag: 'th' | 'td') =>
    `<tr>${cells.map(({ text, tokens }) => cell(inline(tokens), text === '' ? 'td' : tag)).join('')}</tr>`;
  return `<table><thead>${row(header, 'th')}</thead><tbody>${rows.map((cells) => row(cells, 'td')).join('')}</tbody></table>`;
}

/** Anchors as GitHub makes them: a heading that comes again gets a number. */
function createAnchors(): (title: string) => string {
  const taken = new Map<string, number>();
  return (title) => {
    const base = title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    const count = taken.get(base) ?? 0;
    taken.set(base, count + 1);
    return count === 0 ? base : `${base}-${count}`;
  };
}

/** The text of a block as a search reads it. Code is as it stands, without its language. */
function plain(token: Token): string {
  const { raw, type } = token;
  if (type === 'html') return '';
  if (type === 'code') return token.text.replace(/\s+/g, ' ');
  return raw
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*|]|^[-#]+|---+/gm, '')
    .replace(/\s+/g, ' ')
    .trim();
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
