# Embeds src/render/player, which is written for browsers, as text in a source.

function(tutti_generate_player source)
  foreach(part IN ITEMS PAGE:html STYLE:css SCRIPT:js)
    string(REGEX MATCH "(.*):(.*)" part "${part}")
    set(file "${PROJECT_SOURCE_DIR}/src/render/player/player.${CMAKE_MATCH_2}")
    file(READ "${file}" TUTTI_PLAYER_${CMAKE_MATCH_1})
    set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  endforeach()
  configure_file("${PROJECT_SOURCE_DIR}/cmake/player.cpp.in" "${source}" @ONLY)
endfunction()
