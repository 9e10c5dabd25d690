package tradinggraph

import kotlinx.serialization.json.*

/** What the user orders, by the fields of the schema's `PlaceOrderInput`. */
@ConsistentCopyVisibility
public data class NewOrder internal constructor(val input: JsonObject) {
  public companion object {
    /** An order that is carried out at once. [side] is `BUY` or `SELL`, the size [units] or [amount], a stop [price] or [amount]. */
    public fun market(symbol: String, side: String, size: Figure, stopLoss: Figure? = null, takeProfit: Figure? = null): NewOrder =
      NewOrder(inputOf("MARKET", symbol, side, size, stopLoss, takeProfit))

    /** An order that waits for its price. */
    public fun pending(
      symbol: String, side: String, size: Figure, price: Double, stopLoss: Figure? = null, takeProfit: Figure? = null,
    ): NewOrder = NewOrder(JsonObject(inputOf("PENDING", symbol, side, size, stopLoss, takeProfit) + price(price).json))

    public fun units(value: Double): Figure = Figure("units", value)

    public fun amount(value: Double): Figure = Figure("amount", value)

    public fun price(value: Double): Figure = Figure("price", value)

    // Fields that the order does not have are left out: the service refuses null.
    private fun inputOf(kind: String, symbol: String, side: String, size: Figure, stopLoss: Figure?, takeProfit: Figure?) = jsonOf(
      "kind" to kind, "symbol" to symbol, "side" to side, "size" to size.json,
      "stopLoss" to stopLoss?.json, "takeProfit" to takeProfit?.json,
    )
  }
}

/** A number of units, an amount of money or a price. */
public class Figure internal constructor(name: String, value: Double) {
  internal val json = jsonOf(name to value.also { require(it.isFinite()) { "$name is $value" } })
}

/** What became of an order, as far as it is known. */
public sealed class Outcome {
  public data class Accepted(val orderId: String?, val message: String?) : Outcome()

  /** The gateway refused it: nothing was traded. */
  public data class Rejected(val error: String?, val message: String?) : Outcome()

  /** It was not carried out, and will not be unless it is placed again. */
  public data class Unsent(val error: TradingGraphException) : Outcome()

  /** It may have been carried out. Show positions and orders, and ask again by [Ticket.retry]: a new ticket is another order. */
  public data class Unknown(val message: String?, val error: TradingGraphException?) : Outcome()
}

private const val OUTCOME = "{ __typename ... on OrderOutcome { idempotencyKey message replayed } ... on OrderAccepted { orderId } " +
  "... on OrderRejected { error reason sent } ... on OrderOutcomeUnknown { sentAt } }"
internal const val PLACE_ORDER = "mutation PlaceOrder(\$input: PlaceOrderInput!) { order: placeOrder(input: \$input) $OUTCOME }"
internal const val VOID_ORDER = "mutation VoidOrder(\$key: String!) { order: voidOrder(idempotencyKey: \$key) $OUTCOME }"
internal const val PLACED_ORDER = "query PlacedOrder(\$key: String!) { order: placedOrder(idempotencyKey: \$key) $OUTCOME }"

/** A proxy or a cache may give the answer to another request, which says nothing about this order. */
internal fun outcomeOf(order: JsonElement?, key: String, isFirst: Boolean): Outcome {
  val (message, reason) = order.text("message") to order.text("reason")
  return when (order.text("__typename").takeIf { order.text("idempotencyKey") == key }) {
    "OrderAccepted" -> Outcome.Accepted(order.text("orderId"), message)
    "OrderRejected" -> {
      if (order.boolean("sent") == true) return Outcome.Rejected(order.text("error"), message)
      val error = TradingGraphException(reason ?: "UNSENT", message ?: "The order was not placed.")
      // A reason of a newer service says nothing about an earlier request.
      if (isFirst || reason in UNSENT) Outcome.Unsent(error) else Outcome.Unknown(message, error)
    }
    "OrderOutcomeUnknown" -> Outcome.Unknown(message, null)
    else -> throw protocolError("The answer has no outcome of this order.")
  }
}

private val UNSENT = setOf("EXPIRED", "VOIDED", "SETTLED")

/** The server says of these that the request traded nothing, and that a later one can succeed. */
private val NOT_YET = setOf("IDEMPOTENCY_UNAVAILABLE", "GATEWAY_UNAVAILABLE", "RATE_LIMITED", UNAUTHENTICATED)

/** The server says of these that the request traded nothing, and that the same one never will. */
private val REFUSED = Regex("FORBIDDEN|BAD_USER_INPUT|QUERY_TOO_COMPLEX|PAYLOAD_TOO_LARGE|(GRAPHQL_|PERSISTED_DOCUMENT_).*")

/** Whether the order may have been placed although its request failed so. */
internal fun TradingGraphException.mayHaveTraded(resends: Boolean): Boolean {
  val sent = extensions.boolean("sent")
  return when {
    // The server cannot read whether an earlier request was sent, such as the first copy of this one.
    extensions.boolean("earlierUnknown") == true -> sent != false || resends
    sent == false -> false
    else -> code !in NOT_YET && !REFUSED.matches(code) && !neverLeft
  }
}

/** Whether the server's records do not reach back to the key, or its time is too far ahead: another key could succeed. */
internal val TradingGraphException.needsOtherKey
  get() = isTooOld || (code == "BAD_USER_INPUT" && extensions.text("argument") == "input.idempotencyKey")

private val TradingGraphException.isTooOld get() = code == "IDEMPOTENCY_UNAVAILABLE" && !retryable && extensions["limit"] == null

/** Whether the account has used up its orders of a day. Keys can still be closed. */
private val TradingGraphException.isFull get() = code == "IDEMPOTENCY_UNAVAILABLE" && extensions["limit"] != null

/** Whether the key of an order in doubt can be closed after this. */
internal val TradingGraphException.mayClose get() = isTooOld || isFull || REFUSED.matches(code) || code == "STORAGE"

internal val TradingGraphException.isLasting get() = mayClose || code == SIGNED_OUT
