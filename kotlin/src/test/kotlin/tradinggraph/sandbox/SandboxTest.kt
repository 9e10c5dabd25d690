package tradinggraph.sandbox

import java.io.File
import java.net.URI
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.TimeUnit
import kotlin.io.path.createTempDirectory
import kotlin.test.assertContains
import kotlin.test.assertEquals
import kotlin.test.assertIs
import kotlin.test.assertTrue
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.cancel
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestInstance
import org.junit.jupiter.api.Timeout
import tradinggraph.*

/** The client against this checkout's service and its sandbox, over a network that fails. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120, unit = TimeUnit.SECONDS)
class SandboxTest {
  private class Phone : Device {
    override val network = MutableStateFlow<Long?>(1)
    override val isVisible = MutableStateFlow(true)
  }

  private lateinit var service: Service
  private lateinit var proxy: CutProxy
  private val entries = ConcurrentHashMap<String, String>()
  private val phone = Phone()
  private val open = mutableListOf<AutoCloseable>()
  private val scope = CoroutineScope(Dispatchers.Default)
  private val buy = NewOrder.market("AAPL", "BUY", NewOrder.units(1.0))

  /** The storage of one run of the app: what is written after the run was killed is lost. */
  private inner class Storage : KeyStorage {
    @Volatile
    var isAlive = true

    override suspend fun read() = entries.toMap()

    override suspend fun write(name: String, text: String?) {
      if (!isAlive) return
      if (text == null) entries.remove(name) else entries[name] = text
    }
  }

  @BeforeAll
  fun start() {
    service = Service()
    proxy = CutProxy(URI(service.url).port)
  }

  @AfterAll
  fun end() {
    scope.cancel()
    proxy.close()
    service.close()
  }

  @AfterEach
  fun heal() {
    for (each in open) each.close()
    open.clear()
    entries.clear()
    proxy.isSilent = false
    proxy.refusesSockets = false
    phone.network.value = 1
  }

  /** A run of the app, signed in as this user. */
  private fun run(email: String = "demo@example.com", storage: KeyStorage = Storage(), password: String = "demo"): TradingGraph {
    var token: String? = null
    val source: TokenSource = { force ->
      if (force || token == null) token = signIn(email, password)
      token
    }
    return TradingGraph("${proxy.url}/graphql", source, storage, phone).also(open::add)
  }

  private fun follow(graph: TradingGraph) = scope.launch { graph.account.state.collect {} }

  private suspend fun TradingGraph.until(what: (AccountState) -> Boolean): AccountState =
    withTimeoutOrNull(20_000) { account.state.first(what) } ?: error("Not within 20 s, but ${account.state.value.copy(positions = null)}")

  /** The positions by a query, to compare with. */
  private suspend fun TradingGraph.symbols() =
    query("{ positions { id symbol } }").data.list("positions").map { it.text("id") to it.text("symbol") }.toSet()

  private fun AccountState.symbols() = positions.orEmpty().map { it.id to it.text("symbol") }.toSet()

  @Test
  fun `signs in, reads the home screen, and follows an order to its position`() = runBlocking {
    val graph = run()
    val home = graph.query("{ session { login } positions { id } withdrawalMethods { title } }")
    assertEquals(emptyList(), home.errors)
    assertEquals("700001", home.data.field("session").text("login"))
    follow(graph)
    val before = graph.until { it.status == Status.LIVE && it.session != null && it.orders != null }
    assertEquals(graph.symbols(), before.symbols())
    val outcome = assertIs<Outcome.Accepted>(graph.orders.ticket().place(buy))
    val after = graph.until { state -> state.positions!!.any { it.id == outcome.orderId } }
    assertEquals("AAPL", after.positions!!.first { it.id == outcome.orderId }.text("symbol"))
    // The market moves: ticks change rows.
    val profit = after.totals?.number("profit")
    graph.until { it.totals?.number("profit") != profit }
    Unit
  }

  @Test
  fun `reads an answer in parts`() = runBlocking {
    val seen = mutableListOf<Answer>()
    run().parts("{ session { login } ... @defer { withdrawalMethods { title } } }").collect(seen::add)
    assertEquals("700001", seen.first().data.field("session").text("login"))
    assertTrue(seen.last().data.list("withdrawalMethods").isNotEmpty())
  }

  @Test
  fun `follows the list over lost sockets, a killed service and a silent network`() = runBlocking {
    val graph = run("pro@example.com")
    follow(graph)
    graph.until { it.status == Status.LIVE }
    repeat(3) {
      proxy.cut()
      graph.until { it.status == Status.OFFLINE }
      graph.until { it.status == Status.LIVE }
    }
    service.kill()
    graph.until { it.status == Status.OFFLINE && it.error != null }
    // An app that starts without a service waits for it.
    val resumed = async { run().orders.resume() }
    service.start()
    val back = graph.until { it.status == Status.LIVE }
    assertEquals(graph.symbols(), back.symbols())
    assertEquals(emptyList(), resumed.await())
    assertEquals(back.totals?.number("count")?.toInt(), back.positions?.size)
    val silentAt = System.nanoTime()
    proxy.isSilent = true
    graph.until { it.status == Status.OFFLINE }
    assertTrue(System.nanoTime() - silentAt < 12e9, "found within ten seconds, while the market moves")
    proxy.isSilent = false
    graph.until { it.status == Status.LIVE }
    Unit
  }

  @Test
  fun `another network connects at once`() = runBlocking {
    val graph = run()
    follow(graph)
    graph.until { it.status == Status.LIVE }
    // A connection that has just begun is not interrupted.
    delay(1_100)
    phone.network.value = 2
    val offline = graph.until { it.status != Status.LIVE }
    assertEquals(null, offline.error)
    withTimeout(3_000) { graph.account.state.first { it.status == Status.LIVE } }
    Unit
  }

  @Test
  fun `asks for the list while sockets are refused`() = runBlocking {
    proxy.refusesSockets = true
    val graph = run()
    follow(graph)
    val polled = graph.until { it.status == Status.DELAYED }
    assertEquals(graph.symbols(), polled.symbols())
    proxy.refusesSockets = false
    graph.until { it.status == Status.LIVE }
    Unit
  }

  @Test
  fun `goes on with another token when one ends`() = runBlocking {
    val graph = run("fresh@example.com")
    follow(graph)
    graph.until { it.status == Status.LIVE }
    service.fail("getOpenPositions", "status", "status" to 401, "times" to 1, "login" to 700003)
    graph.until { it.status == Status.OFFLINE }
    graph.until { it.status == Status.LIVE && it.error == null }
    Unit
  }

  @Test
  fun `places each of twenty orders once, whose answers are lost`() = runBlocking {
    val graph = run()
    val before = service.calls("openPosition")
    repeat(20) { index ->
      proxy.answersToLose.set(1 + index % 2)
      assertIs<Outcome.Accepted>(graph.orders.ticket().place(buy), "order $index")
    }
    assertEquals(before + 20, service.calls("openPosition"))
    assertEquals(0, proxy.answersToLose.get())
  }

  @Test
  fun `finds each of twenty orders again, whose app was killed under way`() = runBlocking {
    val before = service.calls("openPosition")
    repeat(4) { round ->
      val storage = Storage()
      val killed = List(5) { run(storage = storage) }
      // The keys of the others need the server's time first, as after a cold start.
      if (round % 2 == 0) killed.forEach { it.query("{ __typename }") }
      service.fail("openPosition", "delay", "delayMs" to 100 * round, "times" to 5)
      val orders = proxy.orders.get()
      for (each in killed) scope.launch { each.orders.ticket().place(buy) }
      eventually("the orders leave") { proxy.orders.get() == orders + 5 }
      storage.isAlive = false
      for (each in killed) each.close()
      val resumed = run().orders.resume()
      assertEquals(5, resumed.size, "round $round")
      for (order in resumed) assertIs<Outcome.Accepted>(order.outcome, "round $round")
      eventually("the keys are dropped") { entries.isEmpty() }
    }
    assertEquals(before + 20, service.calls("openPosition"))
  }

  @Test
  fun `an order without a network is unsent at once, and one of which the gateway says nothing is unknown`() = runBlocking {
    val graph = run()
    graph.query("{ session { login } }")
    val before = service.calls("openPosition")
    phone.network.value = null
    assertIs<Outcome.Unsent>(withTimeout(1_000) { graph.orders.ticket().place(buy) })
    phone.network.value = 1
    val ticket = graph.orders.ticket()
    val unknown = NewOrder.market("TEST.UNKNOWN", "BUY", NewOrder.units(1.0))
    assertIs<Outcome.Unknown>(ticket.place(unknown))
    assertEquals("IN_DOUBT", assertIs<Outcome.Unknown>(ticket.place(buy)).error?.code)
    assertIs<Outcome.Unknown>(ticket.retry())
    assertEquals(before + 1, service.calls("openPosition"))
    assertIs<Outcome.Rejected>(graph.orders.ticket().place(NewOrder.market("TEST.REJECT", "BUY", NewOrder.units(1.0))))
    Unit
  }

  @Test
  fun `a double tap is one order, and a closed form cancels none`() = runBlocking {
    val graph = run()
    val before = service.calls("openPosition")
    val ticket = graph.orders.ticket()
    service.fail("openPosition", "delay", "delayMs" to 300, "times" to 1)
    val form = launch { ticket.place(buy) }
    val second = async { ticket.place(buy) }
    delay(100)
    form.cancel()
    assertIs<Outcome.Accepted>(second.await())
    assertEquals(before + 1, service.calls("openPosition"))
  }

  @Test
  fun `a wrong password ends the list with the server's reason, and leaves no earlier orders to wait for`() = runBlocking {
    val graph = run(password = "wrong")
    follow(graph)
    val ended = graph.until { it.error != null }
    assertEquals("SIGNED_OUT", ended.error?.code)
    assertContains(ended.error?.message.orEmpty(), "INVALID_CREDENTIALS")
    assertEquals(emptyList(), graph.orders.resume())
  }

  @Test
  fun `the program of the README buys once, and finds an order again after it was killed`() {
    val folder = createTempDirectory().toFile()
    val output = File(folder, "output")
    val java = File(System.getProperty("java.home"), "bin/java").path
    val before = service.calls("openPosition")

    /** Runs it until this holds, and kills it. On a busy machine an order may be too late to be sent: then it is tapped again. */
    fun run(vararg arguments: String, isDone: () -> Boolean) {
      for (tap in 1..5) {
        val command = listOf(java, "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), "MainKt") + arguments
        val builder = ProcessBuilder(command).directory(folder).redirectErrorStream(true).redirectOutput(output)
        builder.environment()["TRADING_GRAPH_URL"] = "${proxy.url}/graphql"
        val program = builder.start()
        try {
          eventually("it prints an outcome") { isDone() || ("buy" in arguments && "Not placed" in output.readText()) }
        } finally {
          program.destroyForcibly().waitFor()
        }
        if (isDone()) return
      }
      error("No order was sent: ${output.readText()}")
    }

    run("buy") { "LIVE" in output.readText() && "Done: " in output.readText() && File(folder, "orders").list()!!.isEmpty() }
    service.fail("openPosition", "delay", "delayMs" to 2_000, "times" to 1)
    run("buy") { service.calls("openPosition") == before + 2 }
    run { Regex("AAPL.* of an earlier run. Done: ").containsMatchIn(output.readText()) }
    assertEquals(before + 2, service.calls("openPosition"))
    folder.deleteRecursively()
  }
}
