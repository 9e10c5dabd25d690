package tradinggraph.sandbox

import java.io.File
import java.net.URI
import java.util.concurrent.TimeUnit
import kotlin.io.path.createTempDirectory
import kotlin.test.assertContains
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
        assertEquals(0, start(proxy.url, "buy", "short").waitFor())
        assertContains(output(), "LIVE")
        assertContains(output(), "Accepted(")
        service.fail("openPosition", "delay", "delayMs" to 2_000, "times" to 1)
        val killed = start(proxy.url, "buy")
        eventually("the order leaves") { proxy.orders.get() == 2 }
        killed.destroyForcibly().waitFor()
        assertEquals(0, start(proxy.url, "short").waitFor())
        assertContains(output().lines().first(), "AAPL")
        assertContains(output().lines().first(), "Accepted(")
        assertEquals(2, service.calls("openPosition"))
      }
    }
    folder.deleteRecursively()
  }
}
