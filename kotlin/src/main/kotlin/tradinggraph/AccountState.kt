package tradinggraph

import java.time.Instant
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.serialization.json.JsonObject

/** The account, as far as it is known. */
public data class AccountState(
  val status: Status = Status.CONNECTING,
  /** The open positions in the server's order; null until known. An unchanged row is the same object as before. */
  val positions: List<Row>? = null,
  /** `count`, and the exact sums `invested` and `profit`. */
  val totals: Row? = null,
  /** The pending orders; null until the gateway has given them, as of [ordersAsOf]. */
  val orders: List<Row>? = null,
  val ordersAsOf: Instant? = null,
  /** The gateway's figures, as of its `fetchedAt`. */
  val session: Row? = null,
  /** When the gateway last confirmed the positions, by the server's clock. */
  val asOf: Instant? = null,
  /** Why the list is not updated; null while it is. */
  val error: TradingGraphException? = null,
)

/**
 * `CONNECTING`: the first list is asked for, which a failure ends, or 5 s. `LIVE`: the list follows the gateway. `DELAYED`: the gateway
 * does not answer the server, or no socket opens and the list is asked for every 5 s. `OFFLINE`: there is no connection.
 */
public enum class Status { CONNECTING, LIVE, DELAYED, OFFLINE }

/** A row by the names of the schema. What the gateway left out, or was not asked for, is null. */
public data class Row(val fields: JsonObject) {
  /** The gateway's number of a position or order. */
  public val id: String get() = text("id") ?: throw protocolError("The row has no id.")

  public fun text(name: String): String? = fields.text(name)

  public fun number(name: String): Double? = fields.number(name)

  public fun time(name: String): Instant? = fields.time(name)
}

/** How the account is followed: which fields, by the names of the schema. Without a name the orders, or the session, are left out. */
public data class LiveOptions(
  val positions: String = "symbol name side units invested priceOpen priceCurrent profit stopLoss takeProfit digits",
  val orders: String = "symbol name side units kind priceOpen priceCurrent stopLoss takeProfit digits",
  val session: String = "login currency balance equity profits",
  /** At most one event in this time. */
  val interval: Duration? = null,
  /** The longest time without an event, 15 to 60 s. */
  val heartbeat: Duration = 15.seconds,
) {
  private val ticks = "priceCurrent profit rateProfit updatedAt".split(' ').filter { it in positions.split(' ') }.joinToString(" ")
  private val figures = if (session.isEmpty()) "" else "session { id fetchedAt $session }"

  internal val subscription = "subscription Account(\$after: String, \$intervalMs: Int, \$heartbeatSeconds: Int) { " +
    "accountChanges(after: \$after, intervalMs: \$intervalMs, heartbeatSeconds: \$heartbeatSeconds) { cursor snapshot " +
    "positions { upserted { id $positions } ticks { id $ticks } closed } " +
    (if (orders.isEmpty()) "" else "orders { upserted { id $orders } closed fetchedAt } ") +
    "$figures totals { count invested profit } status asOf } }"

  internal val query = "query ${if ((orders + session).isEmpty()) "PolledPositions" else "PolledAccount"} { " +
    "positions { id $positions } positionTotals { count invested profit } " +
    (if (orders.isEmpty()) "" else "orders { id $orders } ") + "$figures }"
}
