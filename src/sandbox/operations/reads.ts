import { CUSTOMER_ID } from '../../gateway/operations/get-customer-id.ts';
import { OPEN_POSITIONS } from '../../gateway/operations/get-open-positions.ts';
import { json } from '../http.ts';
import { authenticated } from '../refusals.ts';
import { openPositions, toWireSession } from '../snapshot.ts';
import { nested } from '../withdrawal-methods.ts';

/** Operation 10. */
export const getSession = authenticated(({ user }, { world }) =>
  json(200, toWireSession(world.account(user), world.market)),
);

/** Operation 11. */
export const getWithdrawalMethods = authenticated(({ user }, { world }) =>
  json(200, nested(world.account(user).methods)),
);

/** Operation 12. */
export const getOpenPositions = authenticated(({ user }, { world }) =>
  json(200, OPEN_POSITIONS.toWire({ positions: openPositions(world.account(user), world.market) })),
);

/** Operation 13. */
export const getCustomerId = authenticated(({ user }) =>
  json(200, CUSTOMER_ID.toWire({ customerId: `cus_${user.login}` })),
);

/** Operation 1. A conditional request for the current edition gets a 304 without a body. */
export const getAllTickers = authenticated(async ({ user, headers }, { world: { catalogs } }) => {
  const { etag, plain, zipped } = await catalogs.edition(user.group);
  const cacheHeaders = catalogs.headers(etag);
  if (isCached(headers['if-none-match'], etag)) {
    return { status: 304, body: '', headers: cacheHeaders };
  }
  const acceptsGzip = /\bgzip\b/.test(String(headers['accept-encoding'] ?? ''));
  return acceptsGzip
    ? { status: 200, body: zipped, headers: { ...cacheHeaders, 'content-encoding': 'gzip' } }
    : { status: 200, body: plain, headers: cacheHeaders };
});

/** Compares weakly, as HTTP requires of `If-None-Match`: the prefix `W/` does not count. */
function isCached(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const withoutPrefix = (tag: string) => tag.trim().replace(/^W\//, '');
  return ifNoneMatch.split(',').some((cached) => withoutPrefix(cached) === withoutPrefix(etag));
}
