import { OPERATIONS } from '../../src/gateway/operations.ts';
import { write } from './operation-case.ts';

const address = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';

export const addCryptoWallet = write(
  OPERATIONS.addCryptoWallet,
  { address },
  { fields: `address: "${address}"` },
);
