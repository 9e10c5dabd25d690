package tradinggraph.sandbox

import java.io.Closeable
import java.io.IOException
import java.net.InetAddress
import java.net.ServerSocket
import java.net.Socket
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread

/** A network between the client and the service, which a test cuts, silences, or lets lose answers. */
class CutProxy(private val target: Int) : Closeable {
  private val server = ServerSocket(0, 50, InetAddress.getLoopbackAddress())
  private val connections = ConcurrentHashMap.newKeySet<Socket>()

  /** How many answers to orders are still to be lost: their connections are cut once the answer has come. */
  val answersToLose = AtomicInteger(0)

  /** How many orders have passed on their way to the service. */
  val orders = AtomicInteger(0)

  @Volatile
  var isSilent = false

  @Volatile
  var refusesSockets = false
  val url = "http://127.0.0.1:${server.localPort}"

  init {
    thread(isDaemon = true) {
      while (!server.isClosed) try {
        carry(server.accept())
      } catch (_: IOException) {
        // The test is over.
      }
    }
  }

  fun cut() {
    for (each in connections) each.close()
  }

  override fun close() {
    server.close()
    cut()
  }

  private fun carry(client: Socket) {
    val upstream = try {
      Socket(InetAddress.getLoopbackAddress(), target)
    } catch (_: IOException) {
      return client.close()
    }
    connections += setOf(client, upstream)
    var hasOrder = false
    pump(client, upstream) { text ->
      if ("order: placeOrder" in text) {
        hasOrder = true
        orders.incrementAndGet()
      }
      !(refusesSockets && "upgrade: websocket" in text.lowercase())
    }
    pump(upstream, client) {
      val isLost = hasOrder && answersToLose.getAndUpdate { maxOf(0, it - 1) } > 0
      hasOrder = false
      !isLost
    }
  }

  /** Carries bytes until [passes] refuses some, which cuts the connection. */
  private fun pump(from: Socket, to: Socket, passes: (String) -> Boolean) = thread(isDaemon = true) {
    val bytes = ByteArray(65_536)
    try {
      while (true) {
        val count = from.getInputStream().read(bytes)
        if (count < 0 || !passes(String(bytes, 0, count, Charsets.ISO_8859_1))) break
        if (!isSilent) to.getOutputStream().write(bytes, 0, count)
      }
    } catch (_: IOException) {
      // Either side has cut it.
    }
    from.close()
    to.close()
    connections -= setOf(from, to)
  }
}
