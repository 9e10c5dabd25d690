package readme

import java.io.File
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertTrue

class ReadmeTest {
  /** The blocks of code that name a file. The tests compile these files, so the page has no code that does not compile. */
  @Test
  fun `the code of the page is that of the compiled files`() {
    val page = File("README.md").readText()
    val blocks = Regex("```kotlin file=(\\S+)\n(.*?)```", RegexOption.DOT_MATCHES_ALL).findAll(page).toList()
    assertTrue(blocks.size >= 3)
    assertEquals(blocks.size, Regex("```kotlin").findAll(page).count())
    for (block in blocks) {
      val (name, code) = block.destructured
      assertEquals(File("src/test/kotlin/readme/$name").readText().removePrefix("package readme\n\n"), code, name)
    }
  }
}
