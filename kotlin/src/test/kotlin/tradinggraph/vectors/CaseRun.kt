package tradinggraph.vectors

import java.time.Instant
import java.util.UUID
import kotlin.random.Random
import kotlin.test.assertEquals
import kotlin.test.assertNotNull
import kotlin.test.assertNull
import kotlin.test.assertTrue
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.flow.collect
import kotlinx.coroutines.launch
import kotlinx.serialization.json.*
import tradinggraph.*
import tradinggraph.field

/** Plays one case of `client/vectors` with this client, as `case-run.ts` does with the TypeScript client. */
class CaseRun(private val case: JsonObject, private val event: JsonObject) {
  private class Tap(val ticket: Ticket, val atMs: Long) {
    val words = mutableListOf<String>()
    var outcome: Outcome? = null
  }

  private val time = VirtualTime()
  private val network = FakeNetwork(time)
  private val market = FakeMarket(network)
  private val scope = CoroutineScope(time)
  private var list = "account"
  private var graph: TradingGraph? = null
  private var following: Job? = null
  private var subscribed = 0
  private var tried = 0
  private val met = mutableSetOf<FakeNetwork.FakeRequest>()
  private val keys = mutableListOf<String>()
  private var open: FakeNetwork.FakeRequest? = null
  private val taps = mutableListOf<Tap>()
  private val answers = mutableMapOf<String, Answer>()
  private var resumed: List<ResumedOrder>? = null
  private var signedOut = 0
  private val random = object : Random() {
    override fun nextBits(bitCount: Int) = 0

    override fun nextDouble() = case.number("random") ?: 0.5
  }

  fun play() {
    for ((index, step) in case.list("steps").withIndex()) {
      try {
        val name = step.text("do")
        if (name != null) act(name, step as JsonObject) else expect(step.text("must")!!, step as JsonObject)
        time.pass(0)
      } catch (error: Throwable) {
        throw AssertionError("${case.text("rule")} ${case.text("name")}, step ${index + 1}, $step: ${error.message}", error)
      }
    }
    graph?.close()
    time.pass(0)
  }

  /** Made at the first step that needs it, which says which list is followed. */
  private fun client(): TradingGraph = graph ?: run {
    val heartbeat = (case.number("heartbeatSeconds") ?: 15.0).seconds
    val resends = case.boolean("resends") ?: true
    val platform = Platform(network.calls(), network.sockets(), evict = {}, resends, dispatcher = time, random = random)
    val live = if (list == "positions") LiveOptions(orders = "", session = "", heartbeat = heartbeat) else LiveOptions(heartbeat = heartbeat)
    TradingGraph("https://fake.example/graphql", { market.token(it) }, network.storage(), network.device, live, { signedOut += 1 }, platform)
  }.also { graph = it }

  private fun act(name: String, step: JsonObject) {
    when (name) {
      "follow" -> {
        list = step.text("list")!!
        following = scope.launch { client().account.state.collect {} }
      }
      "leave" -> following?.cancel()
      "event" -> send(market.subscriptions[(step.int("line") ?: subscribed) - 1], JsonObject(event + (step.field("event") as JsonObject)))
      "complete" -> market.subscriptions.last().end(step.field("errors"))
      "cut" -> market.subscriptions.last().cut(step.int("code"))
      "wait" -> time.pass(step.int("ms")!!.toLong())
      "handshakes" -> network.handshake = step.field("as").let { (it as? JsonPrimitive)?.content ?: it.text("status")!! }
      "network" -> if (step.text("is") == "back") anotherNetwork() else network.reach = step.text("is")!!
      "platform" -> network.device.network.value = if (step.boolean("online") == true) 1 else null
      "app" -> if (step.text("is") == "hidden") network.device.isVisible.value = false else show()
      "clock" -> network.deviceAheadMs = step.number("aheadMs")!!.toLong()
      "store" -> network.store = step.text("as")!!
      "token" -> if (step.field("ends") != null) market.endToken(step.text("renewal") ?: "another") else market.renewal = step.text("renewal")!!
      "renew" -> market.renew()
      "sign in" -> {
        market.signIn(step.text("login"))
        val changed = client()
        scope.launch { changed.tokenChanged() }
      }
      "query" -> sendOwn(step.text("name")!!) { client().parts("query $it { $it }").collect { part -> answers[it] = part } }
      "mutate" -> sendOwn(step.text("name")!!) { answers[it] = client().mutate("mutation $it { $it }") }
      "answer" -> answer(open!!, step.field("with")!!)
      "part" -> open!!.part(step.field("part") as JsonObject)
      "tap" -> tap(step)
      "kill" -> {
        network.kill()
        graph = null
        resumed = null
      }
      "start" -> client()
      "resume" -> {
        val orders = client().orders
        scope.launch { resumed = orders.resume() }
      }
      "forget" -> scope.launch { resumedBy(step.int("key")!!).forget() }
      else -> error("There is no step $name.")
    }
  }

  private fun expect(name: String, step: JsonObject) {
    when (name) {
      "subscribe" -> {
        within(step) { market.subscriptions.size > subscribed }
        subscribed = market.subscriptions.size
        tried = network.tried
        val last = market.subscriptions.last()
        if ("after" in step) assertEquals(step.text("after"), last.variables.text("after"), "after")
        if ("token" in step) assertEquals("token-${step.int("token")}", last.token)
      }
      "try" -> {
        within(step) { network.tried > tried }
        tried = network.tried
      }
      "rest" -> {
        val before = network.tried to unmet(Regex(".")).size
        time.pass(step.int("ms")!!.toLong())
        assertEquals(before, network.tried to unmet(Regex(".")).size, "connections and requests")
      }
      "show" -> expectState(step)
      "query" -> request(Regex("\\b${step.text("name")}\\b"), step)
      "place" -> order(Regex("order: place(?!d)"), step)
      "void" -> order(Regex("order: void"), step)
      "ask" -> order(Regex("order: placed"), step)
      "tell" -> {
        val answer = assertNotNull(answers[step.text("name")], "an answer")
        if ("data" in step) assertEquals(step.field("data"), answer.data as JsonElement?)
        assertEquals(step.text("code"), answer.errors.firstOrNull()?.code)
      }
      "end" -> {
        val tap = tapOf(step)
        within(JsonObject(mapOf("withinMs" to JsonPrimitive(0)) + step)) { tap.outcome != null }
        expectOutcome(tap.outcome!!, step)
      }
      "wait" -> assertNull(tapOf(step).outcome)
      "say" -> assertEquals(step.list("words").map { it.jsonPrimitive.content }, tapOf(step).words.toList())
      "keep" -> {
        val wanted = step.list("keys").map { it.jsonPrimitive.int }
        time.pass(SHOWN_MS) { kept() == wanted }
        assertEquals(wanted, kept(), "stored keys")
      }
      "resumed" -> {
        within(step) { resumed != null }
        assertEquals(step.list("orders").size, resumed!!.size)
        for (order in step.list("orders")) {
          val found = resumedBy((order as JsonObject).int("key")!!)
          expectOutcome(found.outcome, order)
          assertEquals(order.boolean("settled") ?: false, found.isKnown)
        }
      }
      "renewals" -> assertEquals(step.int("times"), market.renewals, "renewals")
      "be signed out" -> assertEquals(1, signedOut)
      else -> error("There is no expectation $name.")
    }
  }

  private fun anotherNetwork() {
    network.device.network.value = (network.device.network.value ?: 0) + 1
  }

  /** A case may show an app that it has not hidden. */
  private fun show() {
    network.device.isVisible.value = false
    time.pass(0)
    network.device.isVisible.value = true
  }

  private fun send(subscription: FakeNetwork.FakeSubscription, event: JsonObject) {
    val lists = JsonObject(event.filterKeys { it in LISTS })
    val changes = JsonObject(mapOf("orders" to JsonNull, "session" to JsonNull) + event.filterKeys { it !in LISTS } + ("positions" to (event.field("positions") ?: lists)))
    subscription.next(jsonOf("data" to jsonOf("accountChanges" to changes), "errors" to event.field("errors")))
  }

  private fun sendOwn(name: String, task: suspend (String) -> Unit) {
    client()
    answers.remove(name)
    scope.launch { task(name) }
  }

  private fun unmet(query: Regex) = market.waiting.filter { it !in met && query.containsMatchIn(it.query) }

  private fun request(query: Regex, step: JsonObject): FakeNetwork.FakeRequest {
    within(step) { unmet(query).isNotEmpty() }
    val request = unmet(query).first()
    met.add(request)
    open = request
    if ("token" in step) assertEquals("token-${step.int("token")}", request.token)
    if ("answer" in step) answer(request, step.field("answer")!!)
    return request
  }

  private fun order(query: Regex, step: JsonObject) {
    val request = request(query, JsonObject(step - "answer"))
    val input = request.variables.field("input")
    val key = request.variables.text("key") ?: input.text("idempotencyKey")!!
    assertEquals(step.int("key"), numberOf(key), "the key")
    val tapMs = taps.lastOrNull()?.atMs ?: 0
    step.number("sendBefore")?.let { assertNear(it.toLong(), Instant.parse(input.text("sendBefore")!!).toEpochMilli() - tapMs) }
    val keyMs = UUID.fromString(key).mostSignificantBits ushr 16
    assertTrue(keyMs <= network.serverMs, "the time of the key")
    step.number("keyTime")?.let { assertNear(it.toLong(), keyMs - tapMs) }
    if ("answer" in step) answer(request, step.field("answer")!!)
  }

  /** Follows an answer's `Date`, which has no milliseconds. */
  private fun assertNear(wanted: Long, sent: Long) = assertTrue(sent in (wanted - DATE_MS)..wanted, "$sent is near $wanted")

  private fun answer(request: FakeNetwork.FakeRequest, answer: JsonElement) {
    val word = (answer as? JsonPrimitive)?.content
    val error = answer.field("error") as? JsonObject
    when {
      word == "lost" -> request.lose()
      word == "page" -> request.text("<html>Welcome</html>")
      word == "none" -> {}
      answer.field("status") != null -> request.text("Bad gateway", answer.number("status")!!.toInt())
      error != null -> request.answer(null, FakeMarket.errorsOf(error))
      answer.field("data") != null -> request.answer(answer.field("data"))
      else -> {
        val key = request.variables.text("key") ?: request.variables.field("input").text("idempotencyKey")!!
        val order = if (answer.field("missing") != null) JsonNull else outcomeOf(answer as JsonObject, key)
        request.answer(JsonObject(mapOf("order" to order)))
      }
    }
  }

  private fun outcomeOf(answer: JsonObject, key: String): JsonObject {
    val own = jsonOf("idempotencyKey" to if (answer.field("other") != null) "another" else key, "replayed" to false)
    return JsonObject(
      own + when {
        answer.field("accepted") != null -> jsonOf("__typename" to "OrderAccepted", "orderId" to answer.field("accepted"))
        answer.field("rejected") != null -> jsonOf("__typename" to "OrderRejected", "sent" to true, "error" to answer.field("rejected"))
        answer.field("unsent") != null -> jsonOf("__typename" to "OrderRejected", "sent" to false, "error" to "not sent", "reason" to answer.field("unsent"))
        else -> jsonOf("__typename" to "OrderOutcomeUnknown", "sentAt" to Instant.EPOCH)
      },
    )
  }

  private fun tap(step: JsonObject) {
    val before = step.int("tap")?.let { taps[it - 1].ticket } ?: step.int("key")?.let { resumedBy(it).ticket }
    val ticket = before ?: client().orders.ticket(step.number("waitMs")?.milliseconds)
    val tap = Tap(ticket, network.serverMs)
    taps.add(tap)
    val order = if (step["limit"] == null) NewOrder.market("AAPL", "BUY", NewOrder.units(step.number("units") ?: 1.0))
    else NewOrder.pending("AAPL", "BUY", NewOrder.amount(50.0), price = 10.0)
    val within: Duration = step.number("withinMs")?.milliseconds ?: 60.seconds
    scope.launch { ticket.state.collect { state -> state.step?.name?.lowercase()?.takeIf { it != tap.words.lastOrNull() }?.let(tap.words::add) } }
    scope.launch { tap.outcome = ticket.place(order, within) }
  }

  private fun tapOf(step: JsonObject) = taps[(step.int("tap") ?: taps.size) - 1]

  private fun expectOutcome(outcome: Outcome, step: JsonObject) {
    assertEquals(step.text("status"), outcome::class.simpleName!!.lowercase(), "$outcome")
    val code = when (outcome) {
      is Outcome.Accepted -> null
      is Outcome.Rejected -> outcome.error
      is Outcome.Unsent -> outcome.error.code
      is Outcome.Unknown -> outcome.error?.code
    }
    if ("code" in step) assertEquals(step.text("code"), code)
  }

  private fun expectState(step: JsonObject) {
    val state = client().account.state.value
    if ("status" in step) assertEquals(step.text("status"), state.status.name)
    if ("error" in step) assertEquals(step.text("error"), state.error?.code)
    if ("asOf" in step) assertEquals(step.time("asOf"), state.asOf)
    if ("ordersAsOf" in step) assertEquals(step.time("ordersAsOf"), state.ordersAsOf)
    if ("rows" in step) assertRows(step.field("rows"), state.positions.orEmpty())
    if ("orders" in step) assertRows(step.field("orders"), state.orders)
    if ("totals" in step) assertHas(step.field("totals"), state.totals)
    if ("session" in step) assertHas(step.field("session"), state.session)
  }

  private fun assertRows(wanted: JsonElement?, rows: List<Row>?) {
    if (wanted == null) assertNull(rows) else assertSame(wanted, rows)
  }

  private fun assertSame(wanted: JsonElement, rows: List<Row>?) {
    assertEquals(wanted.jsonArray.map { it.text("id")!! }, rows.orEmpty().map { it.id })
    for ((index, row) in wanted.jsonArray.withIndex()) assertHas(row, rows!![index])
  }

  private fun assertHas(wanted: JsonElement?, row: Row?) {
    if (wanted == null) assertNull(row)
    for ((name, value) in (wanted as? JsonObject).orEmpty()) assertEquals(value, row?.fields?.let { (it as Map<String, JsonElement>)[name] }, name)
  }

  private fun kept() = network.texts.keys.map { numberOf(it.substringAfterLast('/')) }.sorted()

  private fun resumedBy(key: Int) = resumed!!.first { it.ticket.key == keys[key - 1] }

  /** Keys are numbered in the order in which they appear. */
  private fun numberOf(key: String): Int {
    if (key !in keys) keys.add(key)
    return keys.indexOf(key) + 1
  }

  private fun within(step: JsonObject, isOver: () -> Boolean) {
    val began = time.uptimeMs
    assertTrue(time.pass(step.number("withinMs")?.toLong() ?: MINUTE_MS, isOver), "it happens in time")
    assertTrue(time.uptimeMs - began >= (step.number("atLeastMs") ?: 0.0), "it happens after ${time.uptimeMs - began} ms")
  }

  private fun JsonElement?.int(name: String) = number(name)?.toInt()

  private companion object {
    val LISTS = setOf("upserted", "closed", "ticks", "positions")
    const val MINUTE_MS = 60_000L
    const val SHOWN_MS = 1_000L
    const val DATE_MS = 1_000L
  }
}
