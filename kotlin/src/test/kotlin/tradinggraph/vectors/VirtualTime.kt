package tradinggraph.vectors

import java.util.PriorityQueue
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.resume
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Delay
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.InternalCoroutinesApi

/** A dispatcher of one thread whose time the test moves. Unlike the one of kotlinx-coroutines-test, it stops at a condition. */
@OptIn(InternalCoroutinesApi::class)
class VirtualTime : CoroutineDispatcher(), Delay {
  private class Task(val dueMs: Long, val number: Long, val block: Runnable) : DisposableHandle {
    var isOver = false

    override fun dispose() {
      isOver = true
    }
  }

  var uptimeMs = 0L
    private set

  /** Whether another thread still works for the client. */
  var isBusy: () -> Boolean = { false }
  private val tasks = PriorityQueue(compareBy<Task>({ it.dueMs }, { it.number }))
  private var number = 0L

  /** Lets this time pass, but no more once the condition holds. Returns whether it holds at the end. */
  fun pass(ms: Long, isOver: () -> Boolean = { false }): Boolean {
    val endMs = uptimeMs + ms
    while (true) {
      settle()
      if (isOver()) return true
      val next = synchronized(tasks) { tasks.peek() }
      if (next == null || next.dueMs > endMs) break
      uptimeMs = next.dueMs
    }
    uptimeMs = endMs
    settle()
    return isOver()
  }

  /** Drops all that waits, as the end of a process does. */
  fun clear() = synchronized(tasks) { tasks.clear() }

  override fun dispatch(context: CoroutineContext, block: Runnable) {
    add(0, block)
  }

  override fun scheduleResumeAfterDelay(timeMillis: Long, continuation: CancellableContinuation<Unit>) {
    val task = add(timeMillis) { continuation.resume(Unit) }
    continuation.invokeOnCancellation { task.dispose() }
  }

  override fun invokeOnTimeout(timeMillis: Long, block: Runnable, context: CoroutineContext): DisposableHandle =
    add(timeMillis, block)

  private fun add(ms: Long, block: Runnable): Task = synchronized(tasks) {
    number += 1
    Task(uptimeMs + ms, number, block).also(tasks::add)
  }

  private fun settle() {
    for (step in 0 until MAX_STEPS) {
      val task = synchronized(tasks) { if ((tasks.peek()?.dueMs ?: Long.MAX_VALUE) <= uptimeMs) tasks.poll() else null }
      when {
        task != null -> if (!task.isOver) task.block.run()
        isBusy() -> Thread.sleep(1)
        else -> return
      }
    }
    error("The client does not come to rest.")
  }

  private companion object {
    const val MAX_STEPS = 100_000
  }
}
