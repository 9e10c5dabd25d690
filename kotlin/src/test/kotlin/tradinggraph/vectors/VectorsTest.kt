package tradinggraph.vectors

import java.io.File
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.jsonObject
import org.junit.jupiter.api.DynamicContainer
import org.junit.jupiter.api.DynamicContainer.dynamicContainer
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.TestFactory
import tradinggraph.field
import tradinggraph.list
import tradinggraph.text

class VectorsTest {
  @TestFactory
  fun families(): List<DynamicContainer> {
    val files = File("../client/vectors").listFiles { file -> file.extension == "json" }!!.sorted()
    return files.map { file ->
      val family = Json.parseToJsonElement(file.readText()).jsonObject
      val event = family.field("event") as? JsonObject ?: JsonObject(emptyMap())
      dynamicContainer(
        family.text("family"),
        family.list("cases").map { case ->
          dynamicTest("${case.text("rule")}: ${case.text("name")}") { CaseRun(case as JsonObject, event).play() }
        },
      )
    }
  }
}
