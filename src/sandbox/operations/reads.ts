import { json } from '../http.ts';
import { authenticated } from '../refusals.ts';
import { nested } from '../withdrawal-methods.ts';

/** Operation 10. */
export const getSession = authenticated(({ user }, { world }) => ({
  status: 200,
  body: world.snapshots.session(world.account(user)),
}));

/** Operation 11. */
export const getWithdrawalMethods = authenticated(({ user }, { world }) =>
  json(200, nested(world.account(user).methods)),
);

/** Operation 12. */
export const getOpenPositions = authenticated(({ user }, { world }) => ({
  status: 200,
  body: world.snapshots.positions(world.account(user)),
}));

/** Operation 13. */
export const getCustomerId = authenticated(({ user }) =>
  json(200, { customerId: `cus_${user.login}` }),
);
