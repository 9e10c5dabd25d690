import { ERROR_CODES, type ErrorCode } from '../src/schema/error-codes.ts';

const INTRODUCTION = `# Errors

<!-- Written by \`npm run docs\` from src/schema/error-codes.ts. -->

For developers who handle what goes wrong. A refused order, a wrong password or an invalid telephone number is no error: it is a member of a union, and
\`... on Refusal { error message }\` selects the gateway’s words in any result. All else is an error.

Programs look at \`extensions.code\`, never at the message. A field that fails is null, with an error that has its \`path\`; the other fields have their data. An error of the whole request
comes without \`data\`. HTTP says 200 with the errors of fields, 400 for a wrong request (200 where it is well-formed and \`Accept\` does not name \`application/graphql-response+json\`), 405, 406, 413 and 415 for a wrong
method, \`Accept\`, size or \`Content-Type\`, and 403, 429 and 503 where a code below says so.

## What an error carries

| \`extensions.\` | In | Meaning |
|---|---|---|
| \`code\` | every error | one of the codes below |
| \`retryable\` | every error | whether the same request may be sent again: it can succeed, and does no harm |
| \`operation\` | errors of a gateway call | the gateway operation that failed |
| \`retryAfter\` | \`RATE_LIMITED\`, \`IDEMPOTENCY_UNAVAILABLE\`; where the gateway said it with a 503, \`GATEWAY_UNAVAILABLE\` and \`OUTCOME_UNKNOWN\` | seconds to wait first |
| \`gatewayError\` | \`FORBIDDEN\`, \`RATE_LIMITED\`, \`GATEWAY_REFUSED\`, \`GATEWAY_UNAVAILABLE\` of a 503 | the gateway’s own \`error\` and \`message\`, personal data redacted; may be shown to the user |
| \`argument\` | \`BAD_USER_INPUT\` | path of the argument, where the error is about one |
| \`limit\`, \`value\`, \`maximum\` | \`QUERY_TOO_COMPLEX\`; \`limit\` alone \`IDEMPOTENCY_UNAVAILABLE\` | which limit is exceeded, the value found, and the limit itself |
| \`gap\` | \`IDEMPOTENCY_UNAVAILABLE\` | \`until\` when order records may be missing |
| \`earlierUnknown\` | \`IDEMPOTENCY_UNAVAILABLE\` and \`GATEWAY_UNAVAILABLE\` of an order | true where an earlier request with its key may have been sent |
| \`sent\` | a mutation that was refused before anything of it was sent; a request that may be one and was not read | false, of this request alone |
| \`requestId\` | \`INTERNAL\` | the log has the cause under this id; it is also the response header \`x-request-id\` |

## What is certain of a write

Each code below says it, for a write whose own field has the error, and for all writes of a request that has it as a whole. A longer \`path\` is about what was read after the write. Of
earlier requests with an order's key [orders.md](orders.md#what-is-known-of-which-request) tells.

## The codes
`;

/** docs/errors.md, from the table of codes that the program itself uses. */
export function errorsPage(): string {
  const sections = Object.entries<ErrorCode>(ERROR_CODES).map(([code, error]) =>
    section(code, error),
  );
  return `${INTRODUCTION}\n${sections.join('\n')}`;
}

/** Held to the judgement of the gateway's answers by test/schema/writes-by-code.test.ts. */
const WRITE: Readonly<Record<ErrorCode['write'], string>> = {
  none: 'was not carried out by this request.',
  unknown: 'may have been carried out or not.',
  never: 'never has this code. Reads have, and signing in.',
};

function section(code: string, error: ErrorCode): string {
  const { cause, retryable, advice, show, showInstead = {}, write } = error;
  const usual = retryable ? 'yes' : 'no';
  const retry = code === 'OUTCOME_UNKNOWN' ? 'only where `retryable` is true' : usual;
  const others = Object.entries(showInstead).map(([when, other]) => `${when} “${other}”`);
  const shown = [`“${show}”`, ...others];
  return `### ${code}

${cause}

- Retry: ${retry}. ${advice}
- Show: ${shown.join('; ')}
- A write: ${WRITE[write]}
`;
}
