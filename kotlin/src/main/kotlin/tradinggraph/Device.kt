package tradinggraph

import java.io.File
import java.net.URLDecoder
import java.net.URLEncoder
import java.nio.file.Files
import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.nio.file.StandardOpenOption.*
import kotlinx.coroutines.*
import kotlinx.coroutines.flow.*

private const val SLEPT_MS = 2_000

/** The state of the device, as the platform reports it. The README has Android's. */
public interface Device {
  /** A number that differs for each network, such as Android's `networkHandle`; null without a network. */
  public val network: StateFlow<Long?>

  /** Whether the app is on the screen. */
  public val isVisible: StateFlow<Boolean>

  /** The milliseconds since the device started, at best with its sleep, as by Android's `SystemClock.elapsedRealtime()`. */
  public fun uptimeMillis(): Long = System.nanoTime() / 1_000_000

  /** The device's own time, which its user can set. It is never taken for the server's. */
  public fun wallMillis(): Long = System.currentTimeMillis()
}

/** A machine without a screen, whose network is always there. */
public object AlwaysOn : Device {
  override val network: StateFlow<Long?> = MutableStateFlow(0)
  override val isVisible: StateFlow<Boolean> = MutableStateFlow(true)
}

/** Where the keys of orders outlive the app. */
public interface KeyStorage {
  /** All entries by their names. */
  public suspend fun read(): Map<String, String>

  /** Writes an entry, or removes it (null). Returns once the change outlives the app, and throws if it cannot. */
  public suspend fun write(name: String, text: String?)
}

/** Keeps the keys in a folder of their own. On Android take one in `noBackupFilesDir`, which belongs to the app alone. */
public class FileStorage(private val folder: File) : KeyStorage {
  override suspend fun read(): Map<String, String> = withContext(Dispatchers.IO) {
    folder.listFiles { file -> file.extension != PART }.orEmpty().associate { URLDecoder.decode(it.name, "UTF-8") to it.readText() }
  }

  override suspend fun write(name: String, text: String?): Unit = withContext(Dispatchers.IO) {
    val file = File(folder.apply { mkdirs() }, URLEncoder.encode(name, "UTF-8")).toPath()
    if (text == null) return@withContext Unit.also { Files.deleteIfExists(file) }
    // A kill leaves the old text or the new one, and no half.
    val part = file.resolveSibling("${file.fileName}.$PART")
    Files.write(part, text.toByteArray(), CREATE, WRITE, TRUNCATE_EXISTING, SYNC)
    Files.move(part, file, ATOMIC_MOVE)
  }

  private companion object {
    const val PART = "part"
  }
}

/** Time since its creation. A clock may have been set, or stood still while the device slept: the longer time is the safe one. */
internal class Stopwatch(private val device: Device, earlierMs: Long = 0) {
  private val uptime = device.uptimeMillis() - earlierMs
  private val wall = device.wallMillis() - earlierMs

  val elapsedMs: Long get() = maxOf(device.uptimeMillis() - uptime, device.wallMillis() - wall)
}

/**
 * The server's clock, by the `Date` of its answers and the uptime of this device. The server made an answer after its request had
 * left and before it arrived, so each gives two bounds, and all together closer ones. [now] is never ahead of the server.
 */
internal class ServerClock(private val device: Device) {
  private var earliest: Long? = null
  private var offset = 0L
  private val currentOffset get() = device.wallMillis() - device.uptimeMillis()

  val now: Long? @Synchronized get() = earliest?.plus(device.uptimeMillis())

  /** Whether the device has slept since the last date, without counting that in its uptime: [now] is early then. */
  val isBehind: Boolean @Synchronized get() = currentOffset - offset > SLEPT_MS

  @Synchronized
  fun note(date: Long, sentAt: Long, arrivedAt: Long) {
    // A clock above the upper bound was set back. A `Date` has no milliseconds.
    val known = earliest?.takeIf { it <= date + 1_000 - sentAt }
    earliest = maxOf(date - arrivedAt, known ?: Long.MIN_VALUE)
    offset = currentOffset
  }
}
