import { APP_IS_WRONG, ERROR_CODES, type ErrorCode } from '../src/lib/error-codes.ts';

/** The codes of which some errors may be retried, and others not. */
const VARYING = ['OUTCOME_UNKNOWN', 'IDEMPOTENCY_UNAVAILABLE'];

const RETRYABLE = Object.entries<ErrorCode>(ERROR_CODES)
  .filter(([code, { retryable }]) => retryable && !VARYING.includes(code))
  .map(([code]) => `\`${code}\``)
  .join(', ');

const INTRODUCTION = `# Errors

<!-- Written by \`npm run docs\` from src/lib/error-codes.ts. -->

What each error code means, whether to repeat the request, and what to show. A refused order or a wrong password is not an error: it is a member of a union, and
\`... on Refusal { error message }\` selects the gateway’s words in any result. Each may be null. The gateway’s interface does not list the values of \`error\`, and does not say in which language \`message\` is.

Programs look at \`extensions.code\`, never at the message. A field that fails is null, with an error that has its \`path\`; the other fields are there:

\`\`\`json
{
  "data": { "session": { "balance": 50000 }, "withdrawalMethods": null },
  "errors": [
    {
      "message": "The gateway cannot be reached.",
      "locations": [{ "line": 1, "column": 23 }],
      "path": ["withdrawalMethods"],
      "extensions": { "code": "GATEWAY_UNAVAILABLE", "retryable": true, "operation": "getWithdrawalMethods" }
    }
  ]
}
\`\`\`

An error of the whole request comes without \`data\`:

\`\`\`json
{
  "errors": [
    {
      "message": "The query is 17 levels deep; the limit is 15 (MAX_DEPTH).",
      "extensions": { "code": "QUERY_TOO_COMPLEX", "retryable": false, "limit": "MAX_DEPTH", "value": 17, "maximum": 15 }
    }
  ]
}
\`\`\`

## HTTP statuses

| Status | The request |
|---|---|
| 200 | was executed, even if fields have errors; or its document or variables were refused, as in the example |
| 400 | is not valid JSON or GraphQL over HTTP, or is a batch (\`BATCHING_NOT_SUPPORTED\`); or its document or variables were refused, and \`Accept\` asks for \`application/graphql-response+json\` |
| 403 | comes from a page of another site (\`FORBIDDEN\`) |
| 405 | has another method than GET and POST, or is a mutation by GET |
| 406 | accepts no media type of the server, or is a subscription and accepts no media type for events (\`NOT_ACCEPTABLE\`) |
| 413 | is too large (\`PAYLOAD_TOO_LARGE\`) |
| 415 | has a body, but not the \`Content-Type\` of JSON |
| 429 | is over a limit of this service (\`RATE_LIMITED\`) |

## What an error carries

In \`extensions\`, of every error:

- \`code\`
- \`retryable\`: whether the same request may be sent again (orders differ in one case: [INTERNAL](#internal)). It is true for ${RETRYABLE}, true or false for ${VARYING.map((code) => `\`${code}\``).join(' and ')}, and false for all others.

Of some:

- \`operation\`: the gateway operation that failed
- \`retryAfter\`: seconds to wait first (\`RATE_LIMITED\`, \`IDEMPOTENCY_UNAVAILABLE\`; \`GATEWAY_UNAVAILABLE\` and \`OUTCOME_UNKNOWN\` if the gateway’s 503 names it)
- \`gatewayError\`: the gateway’s own \`error\` and \`message\`, personal data redacted, for the user too (\`FORBIDDEN\`, \`RATE_LIMITED\`, \`GATEWAY_REFUSED\`, \`GATEWAY_UNAVAILABLE\` of a 503)
- \`argument\`: path of the wrong argument (\`BAD_USER_INPUT\`)
- \`limit\`, \`value\`, \`maximum\`: the limit’s name, the value found, the limit itself (\`QUERY_TOO_COMPLEX\`; \`IDEMPOTENCY_UNAVAILABLE\` has \`limit\` alone)
- \`earlierUnknown\`: an earlier request with the order’s key may have been sent (\`IDEMPOTENCY_UNAVAILABLE\`, \`GATEWAY_UNAVAILABLE\`)
- \`sent\`: false if nothing of this request was sent (a refused mutation, or an unread request that may be one)
- \`requestId\`: finds the cause in the log (\`INTERNAL\`); also the response header \`x-request-id\`

## What is certain of a write

A write with its own error, and each write of a request that failed as a whole, was not carried out by this request, unless the code says otherwise below. An error with a longer \`path\` concerns a read after the write.
[orders.md](orders.md#outcomes-and-errors) describes earlier requests with an order’s key.

## The codes

“Retry: no” means: do not send the same request again. If a code has no text to show, show “${APP_IS_WRONG}”
`;

/** docs/errors.md, from the table of codes that the program itself uses. */
export function errorsPage(): string {
  const sections = Object.entries<ErrorCode>(ERROR_CODES).map(([code, error]) =>
    section(code, error),
  );
  return `${INTRODUCTION}\n${sections.join('\n')}`;
}

/** test/schema/writes-by-code.test.ts compares this with how the gateway's answers are judged. */
const WRITE: Readonly<Record<ErrorCode['write'], string>> = {
  none: '',
  unknown: '- A write may have been carried out or not.\n',
  never: '- No write has it.\n',
};

function section(code: string, error: ErrorCode): string {
  const { cause, retryable, advice, show, showInstead = {}, write } = error;
  const usual = retryable ? 'yes' : 'no';
  const retry = VARYING.includes(code) ? 'only if `retryable` is true' : usual;
  const others = Object.entries(showInstead).map(([when, other]) => `${when} “${other}”`);
  const shown = show === APP_IS_WRONG ? '' : `- Show: ${[`“${show}”`, ...others].join('; ')}\n`;
  return `### ${code}

${cause}

- Retry: ${retry}. ${advice}
${shown}${WRITE[write]}`;
}
