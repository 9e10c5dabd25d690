package tradinggraph

import java.time.Instant
import kotlinx.serialization.json.*

/** The result of all events so far: the account while it is followed, and the latest cursors, to recognize a repeated event. */
internal class Folded(val state: AccountState, val seen: List<String>) {
  val cursor get() = seen.last()
}

/**
 * The list after an event of `accountChanges`; the list itself if the event was applied before. Null if an event is missing or came
 * out of order: then only a snapshot can repair the list. The first event of a connection may be of another server, with a clock
 * and cursors of its own.
 */
internal fun Folded?.after(event: JsonObject, isFirst: Boolean): Folded? {
  val isSnapshot = event.boolean("snapshot") == true
  val positions = this?.state?.positions.orEmpty()
  val whole = positions.after(event.field("positions"), isWhole = isSnapshot)
  if (this == null || (isFirst && isSnapshot)) return if (isSnapshot) replacedBy(event, whole.orEmpty(), emptyList()) else null
  val isRepeated = event.text("cursor") == cursor
  if (!isRepeated && event.text("cursor") in seen) return this
  val isLate = !isFirst && event.asOf < state.asOf
  return when {
    isSnapshot && !isLate -> replacedBy(event, whole.orEmpty(), seen)
    // An older event that was never applied came out of order, or a tick is of a row that is missing.
    (isLate && !isRepeated) || whole == null -> null
    // An event without changes, a heartbeat, has overtaken this one.
    isRepeated && whole != positions -> null
    !isRepeated && state.lacksRows(whole, event.field("totals")) -> null
    else -> if (isLate) Folded(state.withAccount(event), seen) else replacedBy(event, whole, seen)
  }
}

private val JsonObject.asOf get() = time("asOf") ?: throw protocolError("The event has no time.")

/** A list that was whole, and has not the server's count any more, lacks an event. */
private fun AccountState.lacksRows(changed: List<Row>, totals: JsonElement?): Boolean {
  val count = totals.number("count")
  val wasWhole = positions?.size?.toDouble() == this.totals?.number("count")
  return wasWhole && count != null && count != changed.size.toDouble()
}

private fun Folded?.replacedBy(event: JsonObject, positions: List<Row>, seen: List<String>): Folded {
  val cursor = event.text("cursor") ?: throw protocolError("The event has no cursor.")
  val before = this?.state ?: AccountState()
  val status = if (event.text("status") == "LIVE") Status.LIVE else Status.DELAYED
  val list = before.copy(status = status, positions = positions, totals = event.row("totals") ?: before.totals, asOf = event.asOf)
  return Folded(list.withAccount(event), (seen - cursor + cursor).takeLast(CURSORS_KEPT))
}

/** A snapshot without orders drops the known ones: otherwise orders that have ended since would stay. */
private fun AccountState.withAccount(event: JsonObject): AccountState {
  val isSnapshot = event.boolean("snapshot") == true
  val changes = event.field("orders")
  val next = copy(session = event.row("session") ?: session)
  return when {
    changes != null -> next.copy(orders = orders.orEmpty().after(changes, isSnapshot) ?: orders, ordersAsOf = changes.time("fetchedAt"))
    isSnapshot -> next.copy(orders = null, ordersAsOf = null)
    else -> next
  }
}

private fun JsonObject.row(name: String) = (field(name) as? JsonObject)?.let(::Row)

/** The event that the answer to a query amounts to, which was asked for at this time. It has no cursor. */
internal fun snapshotOf(polled: JsonObject, askedAt: Instant): JsonObject = jsonOf(
  "cursor" to "", "snapshot" to true, "status" to Status.DELAYED, "asOf" to askedAt,
  "positions" to jsonOf("upserted" to polled.field("positions")), "totals" to polled.field("positionTotals"),
  "orders" to polled.field("orders")?.let { jsonOf("upserted" to it, "fetchedAt" to askedAt) }, "session" to polled.field("session"),
)

/** The list itself if nothing changes; null if a tick is of a row that it lacks. Equal rows stay the same objects. */
private fun List<Row>.after(changes: JsonElement?, isWhole: Boolean): List<Row>? {
  val known = associateBy { it.id }
  val rows = if (isWhole) LinkedHashMap() else LinkedHashMap(known)
  for (id in changes.list("closed")) rows.remove((id as? JsonPrimitive)?.content)
  fun put(fields: JsonElement, before: JsonObject = NOTHING) {
    val row = Row(JsonObject(before + (fields as? JsonObject ?: throw protocolError("A row is no object."))))
    rows[row.id] = known[row.id]?.takeIf { it == row } ?: row
  }
  for (fields in changes.list("upserted")) put(fields)
  for (tick in changes.list("ticks")) put(tick, (rows[tick.text("id")] ?: return null).fields)
  val result = rows.values.toList()
  return if (size == result.size && indices.all { this[it] === result[it] }) this else result
}

private const val CURSORS_KEPT = 16
