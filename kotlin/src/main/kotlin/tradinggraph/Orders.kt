package tradinggraph

import java.time.Instant
import java.util.UUID
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.*
import kotlinx.coroutines.flow.*
import kotlinx.coroutines.sync.*
import kotlinx.serialization.json.JsonObject

private const val AT_ONCE = 4
private const val RESUME_MS = 30_000L

/** A key whose outcome is unknown, or may not have been shown. */
internal data class StoredKey(
  val login: String, val key: String, val order: NewOrder, val sendBefore: Long, val answer: JsonObject? = null,
) {
  val name get() = "orders/$login/$key"
  val madeAt get() = UUID.fromString(key).mostSignificantBits ushr 16
}

/** What all orders of a client share. */
internal class OrderContext(
  val scope: CoroutineScope,
  val requests: Requests,
  val tokens: Tokens,
  val clock: ServerClock,
  val device: Device,
  private val storage: KeyStorage,
  val platform: Platform,
) {
  /** The keys of this run's orders that have no outcome, or whose outcome is being stored. */
  val underWay = mutableSetOf<String>()
  private val writing = Mutex()

  /** Asks for the server's time, unless it is known. */
  suspend fun learnTime() {
    if (clock.now == null || clock.isBehind) requests.send(Outgoing("{ __typename }", repeats = false))
  }

  /** Stores a key. A write that ends after its order was given up is undone, unless the key [isNeeded]. */
  suspend fun keep(stored: StoredKey, isNeeded: () -> Boolean = { true }) = scope.async {
    val entry = jsonOf("input" to stored.order.input, "sendBefore" to stored.sendBefore, "answer" to stored.answer)
    write(stored, entry.toString())
    if (!isNeeded()) drop(stored)
  }.await()

  suspend fun drop(stored: StoredKey) = write(stored, null)

  /** One write at a time, in the order of the calls: a key that is placed again must not be dropped by its former end. */
  private suspend fun write(stored: StoredKey, text: String?) = writing.withLock { guarded { storage.write(stored.name, text) } }

  suspend fun stored(login: String): List<StoredKey> = guarded { storage.read() }.mapNotNull { (name, text) ->
    if (!name.startsWith("orders/$login/")) return@mapNotNull null
    val entry = parseJson(text)
    val sendBefore = entry.number("sendBefore")?.toLong() ?: 0
    val input = entry.field("input") as? JsonObject ?: NOTHING
    StoredKey(login, name.substringAfterLast('/'), NewOrder(input), sendBefore, entry.field("answer") as? JsonObject)
  }

  private suspend fun <T> guarded(call: suspend () -> T): T = try {
    call()
  } catch (cancelled: CancellationException) {
    throw cancelled
  } catch (cause: Exception) {
    throw TradingGraphException("STORAGE", "This device cannot keep the keys of orders.", retryable = true, cause = cause)
  }
}

/** Orders that are placed at most once, and whose outcome is found again after a restart of the app. */
public class Orders internal constructor(private val own: OrderContext) {
  /** A new order. It is sent for 5 s after the tap at most, or for 23 h if it waits for a price, unless [maxWait] is less. */
  public fun ticket(maxWait: Duration? = null): Ticket = Ticket(own, maxWait)

  /**
   * The orders of earlier runs whose outcome the app had not shown. It sends no order: the key of one that has not arrived is closed. To
   * be called at each start and sign-in. It throws nothing: it waits until the service answers, and finds none while nobody is signed in.
   */
  public suspend fun resume(): List<ResumedOrder> = withContext(own.platform.dispatcher) {
    val atOnce = Semaphore(AT_ONCE)
    earlier().map { async { atOnce.withPermit { resumed(it) } } }.awaitAll()
  }.map { (order, settle) -> order.also { settle() } }

  /** The keys of earlier runs, once it is known whose they are. */
  private suspend fun earlier(): List<StoredKey> {
    for (failures in 0..Int.MAX_VALUE) try {
      own.device.network.first { it != null }
      val login = own.requests.login()
      own.learnTime()
      return own.stored(login).filter { it.key !in own.underWay }
    } catch (error: TradingGraphException) {
      if (error.code == SIGNED_OUT) break
      delay(backoffMs(failures, own.platform.random, error.retryAfterSeconds))
    }
    return emptyList()
  }

  private suspend fun resumed(stored: StoredKey): Pair<ResumedOrder, () -> Unit> {
    val order = Order(own, stored.order, stored.sendBefore - stored.madeAt, stored)
    val known = stored.answer?.let { Found(outcomeOf(it, stored.key, isFirst = true), it) }
    val found = known ?: order.seek(RESUME_MS, sends = false)
    val settle = { if (found.outcome !is Outcome.Unknown) order.settle(found.answer) }
    return ResumedOrder(own, stored, found.outcome, isKnown = known != null, Ticket(own, null, order, found.outcome)) to settle
  }
}

/** An order of an earlier run. */
public class ResumedOrder internal constructor(
  private val own: OrderContext,
  private val stored: StoredKey,
  public val outcome: Outcome,
  /** Whether the earlier run had the outcome already, but may not have shown it. */
  public val isKnown: Boolean,
  /** Its `retry()` asks again for an unknown outcome. */
  public val ticket: Ticket,
) {
  public val placed: NewOrder get() = stored.order

  /** By the server's clock. */
  public val placedAt: Instant get() = Instant.ofEpochMilli(stored.madeAt)

  /** Drops an order that the user has dealt with. Until then each start reports an unknown one again. */
  public suspend fun forget(): Unit = own.scope.async { own.drop(stored) }.await()
}

/** [step] is null unless the order is under way; [outcome] is the last one. */
public data class TicketState(val step: Step? = null, val outcome: Outcome? = null)

/** The right to place one order, made with the form: however often it is placed, it becomes one order at most. */
public class Ticket internal constructor(
  private val own: OrderContext,
  private val maxWait: Duration?,
  private var order: Order? = null,
  outcome: Outcome? = null,
) {
  private val shown = MutableStateFlow(TicketState(outcome = outcome))
  private var running: Deferred<Outcome>? = null

  public val state: StateFlow<TicketState> = shown.asStateFlow()

  /** The key; null before the order was first sent. */
  public val key: String? get() = order?.key

  /**
   * Places the order, and seeks its outcome for this time. A second tap joins the first. Another order is not placed while this one is
   * under way or in doubt: its outcome is `Unknown`, with `UNDER_WAY` or `IN_DOUBT`. A caller that is cancelled leaves the order going.
   */
  public suspend fun place(placed: NewOrder, within: Duration = 60.seconds): Outcome =
    own.scope.async { start(placed, within) }.await().await()

  /** Asks again for the outcome, or sends an unsent order. Null if there is none. */
  public suspend fun retry(): Outcome? = order?.let { place(it.placed) }

  private fun start(placed: NewOrder, within: Duration): Deferred<Outcome> {
    val known = order
    val outcome = shown.value.outcome
    val isUnderWay = running?.isActive == true
    val isOther = known != null && known.placed != placed
    if (isOther && (isUnderWay || known.isInDoubt)) return CompletableDeferred(notPlaced(isUnderWay))
    running?.takeIf { isUnderWay }?.let { return it }
    if (outcome is Outcome.Accepted || outcome is Outcome.Rejected) return CompletableDeferred(outcome)
    val next = known?.takeUnless { isOther } ?: Order(own, placed, maxWait?.inWholeMilliseconds)
    order = next
    next.begin()
    // In the client's scope: a form that is closed cancels no order.
    return own.scope.async { run(next, within) }.also { running = it }
  }

  private suspend fun run(order: Order, within: Duration): Outcome {
    val found = order.seek(within.inWholeMilliseconds, sends = true) { shown.value = shown.value.copy(step = it) }
    if (found.outcome is Outcome.Unknown) own.underWay.remove(order.key) else order.settle(found.answer)
    // Another tap is another order.
    if (found.isKeyUsedUp) this.order = null
    shown.value = TicketState(outcome = found.outcome)
    return found.outcome
  }

  private fun notPlaced(isUnderWay: Boolean): Outcome {
    val message = "This order was not sent: the one before has no outcome yet."
    return Outcome.Unknown(null, TradingGraphException(if (isUnderWay) "UNDER_WAY" else "IN_DOUBT", message))
  }
}
