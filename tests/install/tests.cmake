# Installs the build once, then uses it as other projects do.

function(add_install_test name)
  list(JOIN TUTTI_SANITIZE_FLAGS " " flags)
  add_test(NAME install.${name}
    COMMAND "${CMAKE_COMMAND}"
      -DSTEP=${name}
      "-DBUILD=${PROJECT_BINARY_DIR}"
      "-DWORK=${CMAKE_CURRENT_BINARY_DIR}/install"
      "-DLIBDIR=${CMAKE_INSTALL_LIBDIR}"
      "-DCC=${CMAKE_C_COMPILER}"
      "-DCXX=${CMAKE_CXX_COMPILER}"
      "-DCXX_FLAGS=${flags}"
      "-DGENERATOR=${CMAKE_GENERATOR}"
      "-DPKG_CONFIG=${PKG_CONFIG_EXECUTABLE}"
      "-DSHARED=$<BOOL:${BUILD_SHARED_LIBS}>"
      -P "${CMAKE_CURRENT_SOURCE_DIR}/install/check.cmake")
  set_tests_properties(install.${name} PROPERTIES LABELS install TIMEOUT 300 ${ARGN})
endfunction()

include(GNUInstallDirs)
find_package(PkgConfig)

add_install_test(stage FIXTURES_SETUP installed)
add_install_test(cmake FIXTURES_REQUIRED installed)
add_install_test(strip FIXTURES_REQUIRED installed)
add_install_test(embed FIXTURES_REQUIRED installed)
if(PKG_CONFIG_FOUND)
  add_install_test(pkg_config FIXTURES_REQUIRED installed)
endif()
if(TARGET tutti_cli)
  add_install_test(command FIXTURES_REQUIRED installed)
  add_install_test(pages FIXTURES_REQUIRED installed)
endif()
