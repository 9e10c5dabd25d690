import { pick, type Random } from '../../src/sandbox/random.ts';

const RANGES = [
  '*/*',
  'application/*',
  'text/*',
  'application/json',
  'application/json',
  'application/graphql-response+json',
  'application/graphql-response+json',
  'text/event-stream',
  'text/event-stream',
  'multipart/mixed',
  'text/html',
  'image/png',
  'application/graphql+json',
  'APPLICATION/JSON',
  'Text/Event-Stream',
];
const WEIGHTS = [
  '0',
  '0.',
  '0.0',
  '0.000',
  '1',
  '1.',
  '1.0',
  '1.000',
  '0.5',
  '0.9',
  '0.901',
  '0.001',
];
const SPACES = ['', '', '', ' ', '\t', ' \t '];
const PARAMETERS = [
  'charset=utf-8',
  'charset=UTF-8',
  'Charset="utf-8"',
  'charset="UT\\F-8"',
  'charset=latin1',
  'charset="iso-8859-1"',
  'deferSpec=20220824',
  'boundary="a,b;c=\\"d"',
  'profile="q=0, application/json"',
  'x=y',
  // RFC 9110 allows a parameter to be missing.
  '',
];

/** A random `Accept` header by the grammar of RFC 9110, with every freedom that it gives. */
export function randomAccept(random: Random): string {
  const space = () => pick(random, SPACES);
  const count = Math.floor(random() ** 2 * 7);
  const members = Array.from({ length: count }, () => {
    const parts = [pick(random, RANGES)];
    while (random() < 0.25) parts.push(pick(random, PARAMETERS));
    if (random() < 0.5) parts.push(`${pick(random, ['q', 'q', 'Q'])}=${pick(random, WEIGHTS)}`);
    // A weight comes last, but its place makes no difference.
    while (random() < 0.05) parts.push(pick(random, PARAMETERS));
    return parts.reduce((text, part) => `${text}${space()};${space()}${part}`);
  });
  // A list may have empty members.
  while (random() < 0.1) members.splice(Math.floor(random() * members.length), 0, '');
  return members
    .reduce((text, member) => `${text}${space()},${space()}${member}`, '')
    .slice(random() < 0.9 ? 1 : 0)
    .trim();
}
