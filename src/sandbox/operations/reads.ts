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
  json(200, { positions: openPositions(world.account(user), world.market) }),
);

/** Operation 13. */
export const getCustomerId = authenticated(({ user }) =>
  json(200, { customerId: `cus_${user.login}` }),
);
