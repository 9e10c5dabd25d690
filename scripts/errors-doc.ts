// Writes docs/errors.md from the table of codes that the program itself uses. With `--check`
// nothing is written: it fails where the page and the code differ.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CODES, type ErrorCode } from '../src/schema/error-codes.ts';

const PATH = join(import.meta.dirname, '..', 'docs', 'errors.md');

const INTRODUCTION = `# Errors

<!-- Written by \`npm run docs\` from src/schema/error-codes.ts. -->

What a client has to decide on is data: an order that is refused, a password that is wrong, a number
that is no telephone number come as members of a union. Everything else that goes wrong is an error.

An error of a field stands in \`errors\` beside the \`data\`, with the \`path\` of its field, and the rest of
the answer is there: in a mutation as well, where the outcome of one field stands beside the error of another.
Every type that refuses is a \`Refusal\`: \`... on Refusal { error message }\` selects the gateway’s words in any result.

An error of the whole request comes without \`data\`. The HTTP status follows the
specification of GraphQL over HTTP: 200 with the errors of fields; 400 for a request that is wrong
(for \`Accept: application/json\` 200, where it is at least well-formed); 405, 406, 413 and 415 for what
HTTP itself has a word for.

## What an error carries

| \`extensions.\` | In | Meaning |
|---|---|---|
| \`code\` | every error | one of the codes below; it is what programs look at, never the message |
| \`retryable\` | every error | whether the same request may be sent again, with hope and without harm |
| \`operation\` | errors of a gateway call | the gateway operation that failed |
| \`retryAfter\` | \`RATE_LIMITED\` | seconds to wait first |
| \`gatewayError\` | \`FORBIDDEN\`, \`RATE_LIMITED\` | the gateway’s own \`error\` and \`message\`, personal data struck out; to be shown |
| \`argument\` | \`BAD_USER_INPUT\` | the argument that is meant, where it is one |
| \`limit\`, \`value\`, \`maximum\` | \`QUERY_TOO_COMPLEX\` | which limit is passed, by what, and where it is |
| \`requestId\` | \`INTERNAL\` | under which the log has the cause; answers carry it as \`x-request-id\` as well |

## The codes
`;

export function errorsPage(): string {
  const sections = Object.entries<ErrorCode>(ERROR_CODES).map(([code, error]) =>
    section(code, error),
  );
  return `${INTRODUCTION}\n${sections.join('\n')}`;
}

function section(code: string, { cause, retryable, advice, show }: ErrorCode): string {
  const retry = code === 'OUTCOME_UNKNOWN' ? 'only where `retryable` is true' : yesOrNo(retryable);
  return `### ${code}

${cause}

- Retry: ${retry}. ${advice}
- Show: “${show}”
`;
}

function yesOrNo(is: boolean): string {
  return is ? 'yes' : 'no';
}

if (import.meta.main) {
  if (!process.argv.includes('--check')) writeFileSync(PATH, errorsPage());
  else if (readFileSync(PATH, 'utf8') !== errorsPage()) {
    console.error('docs/errors.md is not what the code says: run `npm run docs`');
    process.exitCode = 1;
  }
}
