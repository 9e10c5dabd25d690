// Written by `npm run docs` from the code of the server.

/** The object types of each interface and union, as a normalized cache needs them. */
export const possibleTypes = {
  AcknowledgeResult: ['Acknowledged', 'Rejected'],
  LoginResult: ['LoginRejected', 'LoginSuccess'],
  OrderOutcome: ['OrderAccepted', 'OrderOutcomeUnknown', 'OrderRejected'],
  PlaceOrderResult: ['OrderAccepted', 'OrderOutcomeUnknown', 'OrderRejected'],
  Refusal: ['LoginRejected', 'OrderRejected', 'Rejected'],
};
