/** The fields of a position that the client follows. */
export const POSITION_FIELDS = `id symbol name logo side units invested leverage priceOpen priceCurrent digits profit storage
      stopLoss takeProfit rateMargin rateProfit delayed sharia comment createdAt updatedAt`;
