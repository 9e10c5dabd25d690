package tradinggraph.sandbox

import java.io.File
import java.net.URI
import java.util.concurrent.TimeUnit
import kotlin.io.path.createTempDirectory
import kotlin.test.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout

/** The README's console program, as a process that can be killed. */
@Timeout(180, unit = TimeUnit.SECONDS)
class ConsoleTest {
  private val folder = createTempDirectory().toFile()

  private fun start(url: String, vararg arguments: String): Process {
    val java = File(System.getProperty("java.home"), "bin/java").path
    val command = listOf(java, "-Xmx128m", "-cp", System.getProperty("java.class.path"), "MainKt") + arguments
    val builder = ProcessBuilder(command).directory(folder).redirectErrorStream(true).redirectOutput(File(folder, "output"))
    builder.environment()["TRADING_GRAPH_URL"] = "$url/graphql"
    return builder.start()
  }

  private fun output() = File(folder, "output").readText()

  @Test
  fun `follows the account, buys once, and finds an order again after it was killed`() {
    Service().use { service ->
      CutProxy(URI(service.url).port).use { proxy ->
        val first = start(proxy.url, "buy")
        eventually("the list is live and the order placed") { "LIVE" in output() && "Done: " in output() }
        first.destroyForcibly().waitFor()
        service.fail("openPosition", "delay", "delayMs" to 2_000, "times" to 1)
        val killed = start(proxy.url, "buy")
        eventually("the order leaves") { proxy.orders.get() == 2 }
        killed.destroyForcibly().waitFor()
        val next = start(proxy.url)
        eventually("the order is found") { Regex("AAPL.* of an earlier run. Done: ").containsMatchIn(output()) }
        next.destroyForcibly().waitFor()
        assertEquals(2, service.calls("openPosition"))
      }
    }
    folder.deleteRecursively()
  }
}
