# The sources of the library that the explorer contains: the rooms that treat a schedule as a value. Left out is
# what a page has no use for: files, MSCCL, processes, recorded timelines and the HTML player. The core room is
# mostly that, so its other files are named. A build with tests links these alone (tests/CMakeLists.txt), so that a
# source that is missing here fails there, and not only in the build of the page.

# tutti_page_sources(<variable> <root of the tree>)
function(tutti_page_sources variable root)
  set(sources "")
  foreach(room IN ITEMS schedule algorithms verify cost topology sim render)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS "${root}/src/${room}/*.cpp")
    list(APPEND sources ${found})
  endforeach()
  list(FILTER sources EXCLUDE REGEX
       "/(network_xml|network_file|rank_list|schedule_file|simulation_json|msccl/[a-z_]+)\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "/render/(recording|recording_drawing|schedule_page|drawing)\\.cpp$")
  foreach(file IN ITEMS columns decimal error fork_safe_mutex json nearest quantity shortened)
    list(APPEND sources "${root}/src/core/${file}.cpp")
  endforeach()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# Sources of these rooms that have names in common with others of their folder: each drawing has its own margin and
# sizes of text; traffic.cpp and the drawings each know another Hop.
function(tutti_page_sources_alone root)
  file(GLOB drawings CONFIGURE_DEPENDS "${root}/src/render/*_drawing.cpp")
  set(others chart frame heading schedule_page timeline traffic)
  list(TRANSFORM others REPLACE "(.+)" "${root}/src/render/\\1.cpp")
  tutti_compile_alone(${drawings} ${others})
endfunction()
