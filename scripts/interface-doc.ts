import { openApi } from '../src/check/open-api.ts';
import { firstCallOf } from '../src/gateway/operation.ts';
import { OPERATION_NAMES, OPERATIONS } from '../src/gateway/operations.ts';

const START = '<!-- interface: written by `npm run docs` -->';
const END = '<!-- /interface -->';

interface Documented {
  readonly requestBody?: { readonly content: Content };
  readonly responses: { readonly 200: { readonly content: Content } };
}

type Content = Readonly<Record<'application/json', { readonly example?: unknown }>>;

/** The page with a body and an answer of each operation; the rest of the text stays. */
export function withInterface(page: string): string {
  const [before, rest, ...others] = page.split(START);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined || others.length > 0) {
    throw new Error(`docs/gateway.md must hold "${START}" and "${END}" once`);
  }
  const paths = openApi().paths as Readonly<Record<string, Readonly<Record<string, Documented>>>>;
  const shown = OPERATION_NAMES.map((name) => {
    const { method, path } = firstCallOf(OPERATIONS[name]);
    const documented = paths[path]?.[method.toLowerCase()];
    if (documented === undefined) throw new Error(`${name} is not in the document`);
    const { requestBody, responses } = documented;
    const sent = requestBody && `${wrapped(requestBody.content)}\n`;
    return `op ${OPERATIONS[name].number}\n${sent ?? ''}200 ${wrapped(responses[200].content)}`;
  });
  return `${before}${START}\n\n\`\`\`text\n${shown.join('\n\n')}\n\`\`\`\n\n${END}${after}`;
}

const WIDTH = 150;

/** The example in lines of that width. */
function wrapped(content: Content): string {
  const lines = [''];
  for (const part of JSON.stringify(content['application/json'].example).split(/(?<=,)(?=["{])/)) {
    const line = lines.at(-1) ?? '';
    if (line.length + part.length > WIDTH) lines.push(part);
    else lines[lines.length - 1] = line + part;
  }
  return lines.join('\n');
}
