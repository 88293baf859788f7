# What `cmake --install` installs, for CMake's find_package and pkg-config.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

install(TARGETS tutti EXPORT tuttiTargets INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
if(BUILD_SHARED_LIBS)
  install(TARGETS tutti_malloc)
endif()
install(DIRECTORY include/tutti DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(FILES "${PROJECT_BINARY_DIR}/include/tutti/version.hpp"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tutti")
# CMAKE_INSTALL_DOCDIR would have the name of a project that embeds this one.
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/tutti")
if(TARGET tutti_cli)
  install(TARGETS tutti_cli)
  # If `./dev explore` has built it; `tutti explore` finds it there.
  install(FILES "${PROJECT_BINARY_DIR}/explorer/explorer.html"
          DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/tutti" OPTIONAL)
  include(cmake/InstallPages.cmake)
endif()

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tutti")
configure_package_config_file(cmake/tuttiConfig.cmake.in tuttiConfig.cmake
                              INSTALL_DESTINATION "${package_dir}")
# Before 1.0 a minor version may break its callers.
write_basic_package_version_file(tuttiConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT tuttiTargets NAMESPACE tutti:: DESTINATION "${package_dir}")
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tuttiConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/tuttiConfigVersion.cmake"
        DESTINATION "${package_dir}")

# The .pc file derives its prefix from its own path, so that an installed tree can be moved.
# Distributions may pass absolute directories, which are outside the prefix.
function(tutti_under_prefix result dir)
  if(IS_ABSOLUTE "${dir}")
    set(${result} "${dir}" PARENT_SCOPE)
  else()
    set(${result} "\${prefix}/${dir}" PARENT_SCOPE)
  endif()
endfunction()

file(RELATIVE_PATH TUTTI_PC_PREFIX
     "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
# Without this the prefix would end in a slash, and paths would have two.
string(REGEX REPLACE "/$" "" TUTTI_PC_PREFIX "${TUTTI_PC_PREFIX}")
tutti_under_prefix(TUTTI_PC_INCLUDEDIR "${CMAKE_INSTALL_INCLUDEDIR}")
tutti_under_prefix(TUTTI_PC_LIBDIR "${CMAKE_INSTALL_LIBDIR}")
# An archive does not contain its dependencies, so its users must link them.
set(TUTTI_PC_DEFINES "")
set(TUTTI_PC_REQUIRES "Requires")
if(BUILD_SHARED_LIBS)
  set(TUTTI_PC_DEFINES " -DTUTTI_SHARED")
  set(TUTTI_PC_REQUIRES "Requires.private")
endif()
configure_file(cmake/tutti.pc.in tutti.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tutti.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
