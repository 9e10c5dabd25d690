package tradinggraph.sandbox

import java.io.File
import java.net.ServerSocket
import java.util.concurrent.TimeUnit
import kotlinx.serialization.json.JsonObject
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.RequestBody.Companion.toRequestBody
import tradinggraph.field
import tradinggraph.jsonOf
import tradinggraph.number
import tradinggraph.parseJson

/** This checkout's service with its sandbox, as a process of its own that a test can kill and start again at the same port. */
class Service : AutoCloseable {
  private val port = ServerSocket(0).use { it.localPort }
  private val orders = File.createTempFile("orders", ".db").apply { delete() }
  private val http = OkHttpClient()
  private var process: Process? = null
  val url = "http://127.0.0.1:$port"

  init {
    start()
  }

  fun start() {
    val own = mapOf(
      "PORT" to "$port", "ADMIN_PORT" to "0", "ORDER_STORE" to "$orders", "SANDBOX_SEED" to "kotlin", "SANDBOX_TICK_MS" to "200",
      "POSITIONS_POLL_MS" to "200", "RATE_LIMIT_PER_MINUTE" to "100000", "LOGIN_LIMIT_PER_MINUTE" to "1000", "LOG_LEVEL" to "warn",
    )
    val builder = ProcessBuilder(node(), System.getenv("TEST_PROGRAM") ?: "src/main.ts").directory(ROOT).redirectOutput(ProcessBuilder.Redirect.DISCARD)
    builder.redirectError(ProcessBuilder.Redirect.INHERIT).environment().putAll(own)
    process = builder.start()
    eventually("the service is ready") { runCatching { ask("GET", "/health/ready") }.isSuccess }
  }

  /** Ends it as a lost machine does. */
  fun kill() {
    process?.destroyForcibly()?.waitFor(SECONDS, TimeUnit.SECONDS)
    process = null
  }

  /** The next calls of this operation fail so, by [more]. */
  fun fail(operation: String, kind: String, vararg more: Pair<String, Any>) {
    ask("POST", "/sandbox/faults", jsonOf("operation" to operation, "kind" to kind, *more).toString())
  }

  /** How often the gateway was called so. */
  fun calls(operation: String): Int = (ask("GET", "/sandbox/calls").field("operations") as JsonObject).number(operation)?.toInt() ?: 0

  override fun close() {
    kill()
    orders.delete()
    File("$orders.mark").delete()
  }

  private fun ask(method: String, path: String, body: String? = null) =
    http.newCall(Request.Builder().url(url + path).method(method, body?.toRequestBody()).build()).execute().use {
      check(it.isSuccessful) { "$path: HTTP ${it.code}" }
      parseJson(it.body.string())
    }

  private companion object {
    val ROOT = File("..").canonicalFile
    const val SECONDS = 30L

    /** The project's own Node, which a fresh clone first installs. */
    fun node(): String {
      val node = File(ROOT, "node_modules/.bin/node")
      if (!node.exists()) {
        val setup = ProcessBuilder("node", "scripts/setup.mjs").directory(ROOT).inheritIO().start()
        check(setup.waitFor(10, TimeUnit.MINUTES) && setup.exitValue() == 0) { "The service could not be installed." }
      }
      return node.path
    }
  }
}

/** Waits until it holds, for at most a minute. */
fun eventually(what: String, holds: () -> Boolean) {
  val endsAt = System.nanoTime() + TimeUnit.MINUTES.toNanos(1)
  while (!holds()) {
    check(System.nanoTime() < endsAt) { "Not within a minute: $what." }
    Thread.sleep(20)
  }
}
