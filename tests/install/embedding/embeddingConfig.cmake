include(CMakeFindDependencyMacro)
find_dependency(tutti)
include("${CMAKE_CURRENT_LIST_DIR}/embeddingTargets.cmake")
